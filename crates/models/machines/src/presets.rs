//! The machines that come with the program, and how a machine is named by preset or file.

use std::ffi::OsStr;

use quantities::FileFormat;

use crate::description::{Description, LONGEST};
use crate::error::Error;
use crate::model::Machine;

/// A machine that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its description, with comments that give the source of every number.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        /// Name and description of each, in the order of their families.
        const PRESETS: &[Preset] =
            &[$(Preset { name: $name, text: include_str!(concat!("../../../../machines/", $name, ".toml")) }),+];
    };
}

presets![
    "moc-2-1",
    "moc-3-1",
    "moc-3-2",
    "parsytec-cc-16",
    "parsytec-cc-64",
    "parsytec-gcel-4",
    "parsytec-gcel-16",
    "parsytec-gcel-64",
    "booksim-mesh-8x8",
    "fat-tree-1024",
    "infiniband-128",
    "slingshot-1024",
    "torus-512",
    "ethernet-128",
    "cm5-32",
    "cm5-256",
    "delta",
    "dp-smp-8",
    "dp-smp-quad-2",
    "mpich-tcp-8",
    "loggp",
];

/// The machines that come with the program.
pub fn presets() -> Vec<Preset> {
    PRESETS.to_vec()
}

impl Preset {
    /// One line about it.
    pub fn about(&self) -> String {
        // A test checks that every preset can be read; nothing better could be said about one that can't.
        Description::parse(self.text, self.name).map(|read| read.fields().about.clone()).unwrap_or_default()
    }
}

/// Whether a name is that of a description file rather than a preset.
pub fn is_file_name(name: impl AsRef<OsStr>) -> bool {
    let bytes = name.as_ref().as_encoded_bytes();
    bytes.contains(&b'/') || bytes.ends_with(b".toml")
}

/// The description named by `name_or_path`: a preset, or a file if it contains a `/` or ends in `.toml`.
///
/// # Errors
/// If there is no such preset, or the file cannot be read or understood.
pub fn describe(name_or_path: impl AsRef<OsStr>) -> Result<Description, Error> {
    let name_or_path = name_or_path.as_ref();
    let shown = name_or_path.to_string_lossy();
    if !is_file_name(name_or_path) {
        let preset = PRESETS.iter().find(|preset| preset.name == shown);
        let unknown = || match FileFormat::of_file(name_or_path.as_ref()) {
            Some(format) => other_format(format, &shown),
            None => Error::UnknownMachine { found: shown.to_string() },
        };
        let preset = preset.ok_or_else(unknown)?;
        return Description::parse(preset.text, preset.name);
    }
    let unreadable = |reason: String| Error::Unreadable { file: shown.to_string(), reason };
    let bytes =
        quantities::read_at_most(name_or_path.as_ref(), LONGEST).map_err(|error| unreadable(error.to_string()))?;
    let format = FileFormat::of(&bytes);
    let read = match String::from_utf8(bytes) {
        Ok(text) => Description::parse(&text, &shown),
        Err(_) => Err(unreadable("it is not text in UTF-8".to_string())),
    };
    read.map_err(|error| format.map_or(error, |format| other_format(format, &shown)))
}

/// The error for a file that is in another format than a description.
fn other_format(format: &FileFormat, file: &str) -> Error {
    let problem =
        format.instead_of("a description of a machine in TOML, as `maquette machine delta --toml` prints one");
    Error::OtherFormat { file: file.to_owned(), problem }
}

/// The machine named by `name_or_path`.
///
/// # Errors
/// Those of [`describe`], and if something in its description is not allowed or does not fit together.
pub fn load(name_or_path: impl AsRef<OsStr>) -> Result<Machine, Error> {
    describe(name_or_path)?.resolve()
}

/// The machine named by `name_or_path`, with some fields of its description set to other values.
///
/// # Errors
/// Those of [`load`], and settings of fields that do not exist or of values that they cannot have.
pub fn load_with(name_or_path: impl AsRef<OsStr>, settings: &[(String, String)]) -> Result<Machine, Error> {
    let mut description = describe(name_or_path)?;
    for (name, value) in settings {
        description.set(name, value)?;
    }
    description.resolve()
}
