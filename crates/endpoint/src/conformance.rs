//! The suite that every world must pass.
