//! The description of a machine as a person writes it, in TOML.
//!
//! The types of [`fields`] are the reference: a field that they don't name does not exist. [`Description::parse`] reads
//! a file into them, [`Description::set`] changes one field from a command line, and [`Description::resolve`] checks
//! everything and works out the [`Machine`].

pub mod fields;
mod locate;
mod names;
mod rewrite;
mod settings;

pub(crate) use names::{Table, example};

use crate::error::{Error, Fault, Origin, Problem};
use crate::model::{Machine, Source};
use crate::resolve;
use fields::Fields;
use quantities::Bytes;
use quantities::reading::{self, Mistake};

/// The longest description accepted.
pub(crate) const LONGEST: Bytes = Bytes(16 << 20);

/// The description of a machine, read but not yet resolved.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its fields.
    fields: Fields,
    /// The same fields as TOML, for settings to change.
    table: toml::Table,
    /// The text that it was read from, to locate errors.
    text: String,
    file: String,
    /// The settings made since, by the path of their field.
    settings: Vec<(String, String)>,
}

impl Description {
    /// Reads a description from `text`; messages call it `file`.
    ///
    /// # Errors
    /// If something in it is not TOML, not a field, or not of a field's type.
    pub fn parse(text: &str, file: &str) -> Result<Description, Error> {
        if text.len() as u64 > LONGEST.0 {
            let problem = Problem::value(Bytes(text.len() as u64), format!("a description of at most {LONGEST}"));
            return Err(Error::Description {
                origin: Origin::File { file: file.into(), at: None },
                field: String::new(),
                problem: Box::new(problem),
            });
        }
        let (fields, table) = (locate::read(text, file)?, locate::read(text, file)?);
        Ok(Description { fields, table, text: text.to_string(), file: file.to_string(), settings: Vec::new() })
    }

    /// Its fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Sets a field, given by its path (`channels.buffers`) or a short name (`buffers`), to `value`.
    ///
    /// # Errors
    /// If there is no such field, or the value is not of its type.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let setting = format!("{name}={value}");
        let fail = |problem| Error::Setting { setting: setting.clone(), problem: Box::new(problem) };
        let path = settings::path(name, &self.fields).map_err(fail)?;
        let mut table = self.table.clone();
        let mut read = |value| {
            settings::change(&mut table, &path, value).map_err(fail)?;
            Ok(reading::read::<Fields, _>(toml::Value::Table(table.clone())))
        };
        let fields = match read(settings::parsed(value))? {
            // A number without a unit is not to be quoted, but to have one; and one in the place of a name is a wrong
            // name.
            Err(first) => read(settings::as_text(value))?.map_err(|as_text| match as_text.mistake {
                Some(Mistake::Unexpected { .. }) => first,
                _ => as_text,
            }),
            fields => fields,
        };
        self.fields = fields.map_err(|error| fail(settings::in_table(&path, locate::problem(error))))?;
        self.table = table;
        self.settings.push((path, setting));
        Ok(())
    }

    /// The value of a field, named as in [`Description::set`]; none if the description leaves it out.
    ///
    /// # Errors
    /// If there is no field of this name.
    pub fn value(&self, name: &str) -> Result<Option<String>, Error> {
        let fail = |problem| Error::Setting { setting: name.to_string(), problem: Box::new(problem) };
        let path = settings::path(name, &self.fields).map_err(fail)?;
        let mut parts = path.split('.');
        let first = parts.next().and_then(|part| self.table.get(part));
        let value = parts.fold(first, |value, part| value?.as_table()?.get(part));
        Ok(value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_string)))
    }

    /// Its text with the settings made since it was read; comments, order and spaces are unchanged.
    ///
    /// # Errors
    /// If a setting cannot be written into the text.
    pub fn text(&self) -> Result<String, Error> {
        let paths = self.settings.iter().map(|(path, _)| path.as_str());
        rewrite::with_settings(&self.text, &self.table, paths).ok_or_else(|| Error::Description {
            origin: Origin::File { file: self.file.clone(), at: None },
            field: String::new(),
            problem: Box::new(Problem::Text("its settings cannot be written into its text".to_string())),
        })
    }

    /// Checks it and works out the machine.
    ///
    /// # Errors
    /// If something in it is not allowed, or does not fit together.
    pub fn resolve(&self) -> Result<Machine, Error> {
        let machine = resolve::machine(&self.fields, &self.name()).map_err(|fault| self.located(fault))?;
        Ok(Machine { about: self.about(), source: self.source(), ..machine })
    }

    /// A line about the machine. The text describes the machine without the settings, so these are listed after it.
    fn about(&self) -> String {
        let about = &self.fields.about;
        if self.settings.iter().all(|(path, _)| path == "about") {
            return about.clone();
        }
        let settings: Vec<&str> = self.settings.iter().map(|(_, setting)| setting.as_str()).collect();
        format!("{about}, changed by {}", settings.join(" "))
    }

    fn source(&self) -> Source {
        Source {
            description: self.file.clone(),
            blake3: blake3::hash(self.text.as_bytes()).to_hex().to_string(),
            settings: self.settings.iter().map(|(_, setting)| setting.clone()).collect(),
        }
    }

    /// Its own name, or that of its file without folder and extension.
    fn name(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        self.fields.name.clone().unwrap_or_else(|| file.trim_end_matches(".toml").to_string())
    }

    /// Locates the field of a fault: in a setting, or at a position in the file.
    fn located(&self, fault: Fault) -> Error {
        let Fault { field, problem } = fault;
        let origin = match self.setting_at_fault(&field) {
            Some(setting) => Origin::Setting(setting.to_string()),
            None => Origin::File { file: self.file.clone(), at: locate::field(&self.text, &field) },
        };
        Error::Description { origin, field, problem: Box::new(problem) }
    }

    /// The setting that causes a fault in a field, if the file alone has no fault: the last one that concerns the
    /// field, or else the last one.
    fn setting_at_fault(&self, field: &str) -> Option<&str> {
        let (_, last) = self.settings.last()?;
        let alone = locate::read(&self.text, &self.file).ok()?;
        resolve::machine(&alone, "").ok()?;
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let concerned = self.settings.iter().rev().find(|(path, _)| within(path, field) || within(field, path));
        Some(concerned.map_or(last, |(_, setting)| setting))
    }
}
