//! Options chosen by name. The names and their meanings are defined next to the type itself.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, Error, ValueEnum};
use collectives::schedule::{Pacing, SendReceiveOrder};
use experiment::catalogue::Exchange;
use experiment::{EngineName, FigureName, PatternName};
use launch::wire::Repair;
use studies::PaperName;

/// One of a few named alternatives.
pub(super) trait Choice: Copy + Send + Sync + 'static {
    /// All of them.
    fn choices() -> Vec<Self>;
    /// Its name.
    fn name(self) -> &'static str;
    /// What it means, for the help.
    fn about(self) -> &'static str;
}

/// Reads one of them by its name, and suggests the nearest name for a mistyped one.
pub(super) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::choices().into_iter().map(|it| PossibleValue::new(it.name()).help(it.about()));
    Suggesting(PossibleValuesParser::new(values).try_map(|name| {
        T::choices().into_iter().find(|it| it.name() == name).ok_or_else(|| format!("{name} is none of them"))
    }))
}

/// Suggests the nearest name where the parser suggests none: in short names it takes two swapped letters for another
/// name.
#[derive(Clone)]
pub(super) struct Suggesting<P>(pub(super) P);

impl<P: TypedValueParser> TypedValueParser for Suggesting<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.0.parse_ref(command, argument, value).map_err(|mut error| {
            let names: Vec<PossibleValue> = self.possible_values().into_iter().flatten().collect();
            let nearest = quantities::nearest(&value.to_string_lossy(), names.iter().map(PossibleValue::get_name));
            if let (None, Some(nearest)) = (error.get(ContextKind::SuggestedValue), nearest) {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(nearest.to_string()));
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The name of a value on the command line.
pub(super) fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}

macro_rules! by_its_own_names {
    ($($type:ty),*) => {$(
        impl Choice for $type {
            fn choices() -> Vec<Self> {
                Self::all().to_vec()
            }

            fn name(self) -> &'static str {
                Self::name(self)
            }

            fn about(self) -> &'static str {
                Self::about(self)
            }
        }
    )*};
}

by_its_own_names!(EngineName, Exchange, FigureName, SendReceiveOrder, Pacing, PaperName, PatternName, Repair);
