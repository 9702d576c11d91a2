//! What a machine is: topology, switching, routing, node costs.
//!
//! A machine is described in TOML ([`description::fields`] has every field), checked and worked out into a
//! [`model::Machine`], which worlds simulate. [`load`] returns the machine of a preset or of a file.

pub mod description;
mod error;
pub mod export;
pub mod facts;
pub mod model;
pub mod network_model;
mod presets;
mod resolve;
pub mod routing;
pub mod text_error;
mod topology;

pub use description::Description;
pub use error::{Error, Origin, Problem};
pub use facts::{Facts, facts};
pub use presets::{Preset, describe, is_file_name, load, load_with, presets};
pub use resolve::LONGEST_NAME;
pub use topology::topologies_with_groups;
