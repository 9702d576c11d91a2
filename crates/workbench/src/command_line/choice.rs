//! What is chosen by its name: the names, and what each means, are said where the thing is.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use programs::exchange::{Complete, Irregular};
use programs::schedule::{Order, Pacing};

/// One of a few things that have names.
pub(super) trait Choice: Copy + Send + Sync + 'static {
    /// All of them.
    fn choices() -> Vec<Self>;
    /// What it is called.
    fn name(self) -> &'static str;
    /// What it means, for the help.
    fn about(self) -> &'static str;
}

/// Reads one of them by its name.
pub(super) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::choices().into_iter().map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(values).try_map(|name| {
        T::choices().into_iter().find(|it| it.name() == name).ok_or_else(|| format!("{name} is none of them"))
    })
}

/// What a value is called on the command line.
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

by_its_own_names!(Complete, Irregular, Order, Pacing);
