//! A run as data: which machine, which programs, what is recorded; and the code that runs it.
//!
//! An [`Experiment`] is the common form of a command line, of a file, and of what a launcher sends to its ranks. The
//! [`catalogue`] knows every program by its name. Results contain what was run, as [`Provenance`].

mod background;
pub mod catalogue;
mod error;
mod file_path;
mod jobs;
pub mod journal;
mod json;
mod launched;
mod machine;
pub mod open_loop;
mod own;
mod page;
pub mod parallel;
pub mod postal_clock;
mod prepared;
mod provenance;
mod runner;
pub mod schema;
pub mod simulate;
pub mod site;
mod spec;
pub mod sweep;
mod tables;
mod trace_files;
mod within;
pub mod words;

pub use background::{BackgroundTraffic, PatternName};
pub use error::Error;
pub use file_path::FilePath;
pub use jobs::FinishedJob;
pub use json::place;
pub use machine::{MachineChoice, PostalModel, Setting};
pub use own::{Own, OwnProgram};
pub use page::write_picture;
pub use prepared::{AnyJob, Finding, NOT_RECEIVED, Notes, Outcome, Prepared, Ready, Simulates};
pub use provenance::{Provenance, build, name_build};
pub use report::run::FigureName;
pub use report::{FigurePage, machine_page};
pub use runner::{FinishedRun, PreparedLaunch, Run};
pub use site::Site;
pub use spec::{DEFAULT_SEED, EngineName, Experiment, Job, Outputs, read_as};
pub use tables::{Recording, TableName};
