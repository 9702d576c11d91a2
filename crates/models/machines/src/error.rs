//! What can be wrong with a description of a machine, and what to do about it.

use std::fmt;

use crate::routing::Rule;
use crate::topology::Topology;

/// Why there is no such machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No preset has the name.
    #[error("there is no machine called `{found}`")]
    UnknownMachine {
        /// The name as given.
        found: String,
    },
    /// A description that cannot be read as a text file.
    #[error("cannot read `{file}`: {reason}")]
    Unreadable {
        /// The file's name as it was given.
        file: String,
        /// The reason given by the system.
        reason: String,
    },
    /// A file of another format.
    #[error("{file}: {problem}")]
    OtherFormat {
        /// The file's name as it was given.
        file: String,
        /// What it is, and what is allowed.
        problem: String,
    },
    /// A setting that is not of the form `FIELD=VALUE`, or names no field.
    #[error("`{setting}` cannot be set: {problem}")]
    Setting {
        /// The setting, `field=value`.
        setting: String,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// Something in a description, or in another file that people write.
    #[error("{origin}: {}{problem}", Prefix(field))]
    Description {
        /// Where it is.
        origin: Origin,
        /// The path of the field that it concerns, `channels.buffers`; empty for the description as a whole.
        field: String,
        /// What is wrong with it.
        problem: Box<Problem>,
    },
}

impl Error {
    /// The same without its line and column, where nobody has seen the text.
    #[must_use]
    pub fn anywhere(self) -> Error {
        match self {
            Error::Description { origin: Origin::File { file, .. }, field, problem } => {
                Error::Description { origin: Origin::File { file, at: None }, field, problem }
            }
            other => other,
        }
    }

    /// What to do about it, if there is more to say than what is wrong.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::UnknownMachine { found } => Some(unknown_machine_hint(found)),
            Error::Unreadable { .. } | Error::OtherFormat { .. } => None,
            Error::Setting { problem, .. } => problem.hint(),
            Error::Description { field, problem, .. } => match (problem.hint(), form(field)) {
                (Some(hint), Some(form)) => Some(format!("{hint}; {form}")),
                (hint, form) => hint.or(form.map(str::to_string)),
            },
        }
    }
}

/// An example of the value of this field, if its form cannot be guessed.
fn form(field: &str) -> Option<&'static str> {
    let rest = field.strip_prefix("topology.")?;
    let (name, within) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    Topology::KINDS.iter().find(|kind| kind.name == name).and_then(|kind| (kind.form)(within))
}

fn unknown_machine_hint(found: &str) -> String {
    let names = || crate::presets().into_iter().map(|preset| preset.name);
    let begun = || names().find(|name| !found.is_empty() && name.starts_with(found));
    let suggestion =
        quantities::nearest(found, names()).or_else(begun).map(|name| format!("did you mean `{name}`? The"));
    let known: Vec<&str> = names().collect();
    let begin = suggestion.unwrap_or_else(|| "the".to_string());
    format!("{begin} presets are {}; a file's name has a `/` in it or ends in `.toml`", known.join(", "))
}

/// Where something in a description is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a file.
    File {
        /// The file's name as it was given, or the preset's.
        file: String,
        /// Line and column, from 1, if known.
        at: Option<(usize, usize)>,
    },
    /// In a setting, `field=value`.
    Setting(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { file, at: Some((line, column)) } => write!(out, "{file}:{line}:{column}"),
            Origin::File { file, at: None } => write!(out, "{file}"),
            Origin::Setting(setting) => write!(out, "setting {setting}"),
        }
    }
}

struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(out, "{}: ", self.0) }
    }
}

/// What is wrong with a field of a description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is not TOML, or a value is of the wrong type.
    #[error("{0}")]
    Text(String),
    /// A field or a value has a name that does not exist.
    #[error("there is no {what} `{found}`")]
    UnknownName {
        /// `field`, `value` or `preset`.
        what: &'static str,
        /// The name as it was written.
        found: String,
        /// The names that exist.
        known: Vec<String>,
        /// Paths of fields elsewhere that have this name, or a similar one.
        elsewhere: Vec<String>,
    },
    /// A field is given twice.
    #[error("`{field}` is given twice{}", same_as.as_ref().map(|other| format!(", `{other}` being the same field")).unwrap_or_default())]
    Twice {
        /// Its name.
        field: String,
        /// Another name of it.
        same_as: Option<String>,
    },
    /// A field is required and missing.
    #[error("{missing} is missing")]
    Missing {
        /// Which field, or which of several.
        missing: String,
    },
    /// A value is outside what is allowed.
    #[error("found {found}; allowed is {allowed}")]
    Value {
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// The rule of routing does not fit the topology.
    #[error("`{rule}` cannot serve this topology: {reason}")]
    Unserved {
        /// The rule.
        rule: String,
        /// Why not.
        reason: String,
    },
    /// Packets can wait for each other for ever.
    #[error("`{rule}` can deadlock on this topology: {}", shorten_cycle(cycle))]
    Deadlock {
        /// The rule.
        rule: String,
        /// The channels, in words: a packet that holds one can wait for the next, and one that holds the last for the
        /// first.
        cycle: Vec<String>,
        /// How many virtual channels the rule would need, if there are fewer.
        virtual_channels: Option<u32>,
    },
}

impl Problem {
    /// The problem that a value was `found` where another is `allowed`.
    pub(crate) fn value(found: impl fmt::Display, allowed: impl fmt::Display) -> Problem {
        Problem::Value { found: found.to_string(), allowed: allowed.to_string() }
    }

    /// What to do about it, if there is more to say than what is wrong.
    pub fn hint(&self) -> Option<String> {
        match self {
            Problem::UnknownName { what, found, known, elsewhere } => Some(name_hint(what, found, known, elsewhere)),
            Problem::Deadlock { virtual_channels, .. } => {
                let more = |count: &u32| {
                    format!("with channels.virtual_channels = {count} and virtual cut-through it is free of deadlock; ")
                };
                let more = virtual_channels.as_ref().map(more).unwrap_or_default();
                let of_all = Rule::of_all()?.name();
                Some(format!("{more}routing.rule = \"{of_all}\" is free of deadlock on every topology"))
            }
            _ => None,
        }
    }
}

fn name_hint(what: &str, found: &str, known: &[String], elsewhere: &[String]) -> String {
    /// More paths than this are no help.
    const SHOWN: usize = 4;
    let is_exact = |path: &String| path.rsplit('.').next() == Some(found);
    let near = quantities::nearest(found, known.iter().map(String::as_str));
    // A field with exactly this name elsewhere is likelier than one in this table that is only similar, but not than
    // one that differs by a single letter.
    let paths = match near {
        Some(name) if !elsewhere.iter().any(is_exact) || quantities::edit_distance(found, name) < 2 => Vec::new(),
        _ => elsewhere.iter().take(SHOWN).map(|path| format!("`{path}`")).collect::<Vec<String>>(),
    };
    let suggestion = match (near, paths.is_empty()) {
        (_, false) => format!("did you mean {}? ", paths.join(" or ")),
        (Some(name), true) => format!("did you mean `{name}`? "),
        (None, true) => String::new(),
    };
    format!("{suggestion}The {what}s are {}", known.join(", "))
}

/// The channels of a cycle, without the middle of a long one.
fn shorten_cycle(cycle: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = &cycle[..cycle.len().min(SHOWN)];
    let rest = if cycle.len() > SHOWN { format!(", and {} more", cycle.len() - SHOWN) } else { String::new() };
    format!(
        "a packet that holds each of these channels can wait for the next, and so round: {}{rest}",
        shown.join("; ")
    )
}

/// A problem and the path of the field that it concerns; locating that field is left to the reader of the description.
#[derive(Debug)]
pub(crate) struct Fault {
    pub field: String,
    pub problem: Problem,
}

impl Fault {
    pub(crate) fn new(field: impl Into<String>, problem: Problem) -> Fault {
        Fault { field: field.into(), problem }
    }
    pub(crate) fn value(field: impl Into<String>, found: impl fmt::Display, allowed: impl fmt::Display) -> Fault {
        Fault::new(field, Problem::value(found, allowed))
    }
}
