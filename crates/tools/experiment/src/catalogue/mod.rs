//! Every program that can be asked for by its name: its parameters, what it is, and how it is made.
//!
//! A program of the catalogue is a struct of its parameters that implements [`Entry`]. The doc comments of the struct
//! and of its fields are its help, on the command line and in the JSON Schema of experiments; its serde form is how
//! files and launched ranks have it. To add one is a file here and a line in the list below.

mod any;
mod awaited;
mod description;
mod rank_list;
mod size;

pub use any::{AnyOutput, AnyProgram, Member};
pub use awaited::Awaited;
pub use description::{Description, Kind, Parameter};
pub use exchange::Exchange;
pub use rank_list::RankList;
pub use schedule::read_schedule;
pub use size::Size;

use collectives::Row;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Ready, Site};

/// A program that can be asked for by its name.
pub trait Entry: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// Its name.
    const NAME: &'static str;
    /// What more there is to say of it, and command lines that run it.
    const EXAMPLES: &'static str;
    /// Whether it runs on any number of ranks, and does not say itself how many it has.
    const ANY_RANKS: bool = true;
    /// The machine, where it has a usual one.
    const DEFAULT_MACHINE: Option<&'static str> = None;

    /// Whether it can run in the postal model in place of a machine.
    fn is_in_postal_model() -> bool {
        false
    }

    /// Makes it for `site`.
    ///
    /// # Errors
    /// What keeps it from running there.
    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error>;
}

macro_rules! catalogue {
    ($($entry:ident = $program:path,)+ ; $($file:ident::$row:ident,)+) => {
        catalogue! {
            @
            $($row = OfRow<collectives::$file::$row, { collectives::$file::$row::SHAPE.is_exchange() }>,)+
            $($entry = $program,)+
        }
    };
    (@ $($entry:ident = $path:ty,)+) => {
        /// A program of the catalogue, with its parameters.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = described)]
        #[allow(rustdoc::private_intra_doc_links)]
        pub enum Choice {
            $(#[doc = concat!("[`", stringify!($path), "`]")] $entry($path),)+
        }

        impl Choice {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Choice::$entry(_) => <$path as Entry>::NAME,)+
                }
            }

            /// Makes it for `site`.
            ///
            /// # Errors
            /// What keeps it from running there.
            pub fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
                match self {
                    $(Choice::$entry(entry) => entry.prepare(site),)+
                }
            }

            /// The program called `name` with these parameters, the others being as usual.
            ///
            /// # Errors
            /// What is wrong with a parameter; nothing, where there is no such program.
            pub fn read(name: &str, parameters: Map<String, Value>) -> Option<Result<Choice, serde_json::Error>> {
                let parameters = Value::Object(parameters);
                match name {
                    $(<$path as Entry>::NAME => Some(serde_json::from_value(parameters).map(Choice::$entry)),)+
                    _ => None,
                }
            }
        }

        /// What each program is, and what it can be told, in the order of the help.
        pub fn descriptions() -> Vec<Description> {
            vec![$(Description::of::<$path>(),)+]
        }
    };
}

/// A collective of the list as a program: what it can be told depends on its shape.
type OfRow<R, const IS_EXCHANGE: bool> = <ByShape<IS_EXCHANGE> as ProgramOf<R>>::Program;

/// Whether every rank has a block for every other.
pub struct ByShape<const IS_EXCHANGE: bool>;

/// Which program a collective is.
pub trait ProgramOf<R> {
    /// The program.
    type Program;
}

impl<R: Row> ProgramOf<R> for ByShape<false> {
    type Program = listed::Listed<R>;
}

impl<R: Row> ProgramOf<R> for ByShape<true> {
    type Program = exchange::ListedExchange<R>;
}

/// Says of each program in the schema of a [`Choice`] what it does.
fn described(schema: &mut Schema) {
    let programs = descriptions();
    for choice in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let names = choice.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let program = names.into_iter().find_map(|name| programs.iter().find(|program| program.name == name));
        if let Some(about) = program.and_then(|program| program.about.lines().next()) {
            choice["description"] = about.into();
        }
    }
}

impl Choice {
    /// The program called `name`, with these parameters, the others being as usual.
    ///
    /// # Errors
    /// No such program, or parameter, with the names that there are; a value that the parameter can't have.
    pub fn named(name: &str, parameters: Map<String, Value>) -> Result<Choice, Error> {
        if let Some(Ok(choice)) = Choice::read(name, parameters.clone()) {
            return Ok(choice);
        }
        let programs = descriptions();
        let has_name = |program: &&Description| program.name == name;
        let Some(program) = programs.iter().find(has_name) else {
            let known = programs.iter().map(|program| program.name.to_owned()).collect();
            return Err(Error::UnknownProgram { found: name.to_owned(), known });
        };
        for (parameter, value) in &parameters {
            program.check(parameter, value)?;
        }
        let unknown = || Error::UnknownProgram { found: name.to_owned(), known: vec![program.name.to_owned()] };
        // What is wrong with parameters only together stands under no one's name.
        let wrong = |error: serde_json::Error| Error::Value { parameter: name.to_owned(), problem: error.to_string() };
        Choice::read(program.name, parameters).ok_or_else(unknown)?.map_err(wrong)
    }
}

mod all_pairs;
mod applications;
mod cast;
mod exchange;
mod goal;
mod linear_hash;
mod listed;
mod pairs;
mod ping_pong;
mod schedule;
mod trace;

collectives::every_collective! {
    catalogue!
    PingPong = ping_pong::PingPong,
    AllPairs = all_pairs::AllPairs,
    EqualDist = pairs::EqualDist,
    UnequalDist = pairs::UnequalDist,
    Fft = applications::Fft,
    ConjugateGradient = applications::ConjugateGradient,
    Euler = applications::Euler,
    Cast = cast::Cast,
    LinearHash = linear_hash::LinearHash,
    LinearHashGrowth = linear_hash::LinearHashGrowth,
    Schedule = schedule::Schedule,
    Goal = goal::Goal,
    Trace = trace::Trace,
}
