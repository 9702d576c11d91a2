//! Programs over the endpoint trait: one file an algorithm, reading like its paper.
