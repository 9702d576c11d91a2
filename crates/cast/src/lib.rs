//! Files and folders to any number of receivers at once, by multicast.

pub mod files;
pub mod lobby;
pub mod manifest;
pub mod names;
pub mod parameters;
pub mod round;
pub mod secret;
