//! What was run: everything that determines a result. Anyone who runs the same again gets the same result.

use std::sync::OnceLock;

use formats::input::InputFile;
use formats::output::EXPERIMENT_KEY;
use machines::model::Machine;
use serde::Serialize;
use serde_json::{Map, Value, json};
use virtual_worlds::jobs::placement::Placement;

use crate::Notes;

/// The most characters of a list, such as the ranks of a group, that people are shown in a line.
const LONGEST_LIST: usize = 60;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit from which the process was built, once [`name_build`] has set it: only the outermost crate knows it, so
/// that a commit builds no other anew.
static BUILD: OnceLock<&str> = OnceLock::new();

/// Says from which `commit` this process was built. What it says first holds.
pub fn name_build(commit: &'static str) {
    BUILD.get_or_init(|| commit);
}

/// From which commit this process was built.
pub fn build() -> &'static str {
    BUILD.get().copied().unwrap_or("no commit")
}

/// What was run. Every command that simulates prints it: in JSON under the key [`Provenance::KEY`].
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// The version of maquette.
    maquette: &'static str,
    /// The commit from which it was built.
    build: &'static str,
    /// The words of the command: `run fft`.
    command: String,
    /// The machine.
    machine: Option<OnMachine>,
    /// The engine that moved the flits, if there are any.
    engine: Option<&'static str>,
    /// The seed of random choices, if there may be any.
    seed: Option<u64>,
    ranks: Option<u32>,
    /// The other parameters of the command, including the values of those left out.
    parameters: Map<String, Value>,
    /// The files that were read.
    files: Vec<InputFile>,
    /// What is reported about the seed.
    #[serde(skip)]
    randomness: Randomness,
}

/// Whether the seed makes a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Randomness {
    /// It does.
    Drawn,
    /// It does not, and none was given.
    #[default]
    None,
    /// It does not, although one was given.
    WithoutEffect,
}

/// A machine, and the changes to its description.
#[derive(Clone, Debug, Serialize)]
struct OnMachine {
    name: String,
    /// The preset or file that describes it.
    description: String,
    /// The digest of that text.
    blake3: String,
    /// The fields set to other values, in order.
    set: Vec<String>,
}

impl Provenance {
    /// The key of an experiment in the JSON that a command prints.
    pub const KEY: &str = EXPERIMENT_KEY;

    /// The provenance of the command with these words.
    pub fn of(command: &str) -> Provenance {
        Provenance {
            maquette: VERSION,
            build: build(),
            command: command.to_owned(),
            machine: None,
            engine: None,
            seed: None,
            ranks: None,
            parameters: Map::new(),
            files: Vec::new(),
            randomness: Randomness::None,
        }
    }

    /// The same with another word of the command, the name of a program.
    pub fn running(self, program: &str) -> Provenance {
        Provenance { command: format!("{} {program}", self.command), ..self }
    }

    /// The same with what is known of a program of `ranks` ranks before it runs.
    pub(crate) fn of_program(self, ranks: u32, notes: &Notes) -> Provenance {
        let mut provenance = self.among(ranks).given(notes.parameters.clone());
        if notes.draws {
            provenance.mark_random();
        }
        notes.files.iter().cloned().for_each(|file| provenance.read(file));
        provenance
    }

    /// The same on `machine`.
    pub fn on(self, machine: &Machine) -> Provenance {
        let (name, source) = (machine.name.clone(), machine.source.clone());
        let on = OnMachine { name, description: source.description, blake3: source.blake3, set: source.settings };
        let randomness = if machine.is_random() { Randomness::Drawn } else { self.randomness };
        Provenance { machine: Some(on), randomness, ..self }
    }

    /// The same with real ranks, without a model of a machine.
    pub fn for_real(self) -> Provenance {
        let command = self.command.replacen("run", "launch", 1);
        let seed = self.seed.filter(|_| self.randomness == Randomness::Drawn);
        Provenance { command, machine: None, engine: None, seed, ..self }
    }

    /// Notes that `machine` is one of those used: by its file, if there is one.
    pub fn add_machine(&mut self, machine: &Machine) {
        let of_one = Provenance::of("").on(machine);
        self.files.extend(of_one.machine.as_ref().and_then(OnMachine::file));
    }

    /// The same with this many ranks.
    pub fn among(self, ranks: u32) -> Provenance {
        Provenance { ranks: Some(ranks), ..self }
    }

    /// The same, with the engine that moved the flits.
    pub fn with_engine(self, engine: Option<&'static str>) -> Provenance {
        Provenance { engine, ..self }
    }

    /// The same with a seed, which was `requested` for or is the default.
    pub fn seeded(self, seed: u64, requested: bool) -> Provenance {
        let randomness = match self.randomness {
            Randomness::None if requested => Randomness::WithoutEffect,
            known => known,
        };
        Provenance { seed: Some(seed), randomness, ..self }
    }

    /// The seed that was given, if it makes no difference.
    pub fn seed_without_effect(&self) -> Option<u64> {
        self.seed.filter(|_| self.randomness == Randomness::WithoutEffect)
    }

    /// The seed of random choices, if there is one.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The parameters, including the values of those left out.
    pub fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// The same by name and value, for people: of a long list only the beginning.
    pub fn parameters_in_words(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.parameters.iter().map(|(name, value)| format!("{name} {}", shortened(&text(value)))).collect()
    }

    /// Notes that the program itself makes random choices from the seed.
    pub fn mark_random(&mut self) {
        self.randomness = Randomness::Drawn;
    }

    /// The same with ranks on nodes that `placement` says.
    pub fn placed(mut self, placement: &Placement) -> Provenance {
        if *placement == Placement::Random {
            self.mark_random();
        }
        self.given(json!({"placement": placement.to_string()}))
    }

    /// The same with parameters, the fields of a JSON object.
    pub fn given(mut self, parameters: Value) -> Provenance {
        if let Value::Object(parameters) = parameters {
            self.parameters.extend(parameters);
        }
        self
    }

    /// Notes that `file` was read.
    pub fn read(&mut self, file: InputFile) {
        self.files.push(file);
    }

    /// `object` with this added to it.
    pub fn added_to(&self, mut object: Value) -> Value {
        object[Self::KEY] = serde_json::to_value(self).unwrap_or_default();
        object
    }

    /// A line for people: how the machine and the program differ from their defaults, and what produced the result.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if let Some(machine) = self.machine.as_ref().filter(|machine| !machine.set.is_empty()) {
            parts.push(format!("with {}", machine.set.join(" ")));
        }
        parts.extend(self.engine.map(|engine| format!("engine {engine}")));
        parts.extend(self.seed.and_then(|seed| match self.randomness {
            Randomness::Drawn => Some(format!("seed {seed}")),
            Randomness::None => None,
            Randomness::WithoutEffect => Some(format!("seed {seed} without effect, as nothing is random")),
        }));
        parts.push(format!("maquette {}", self.maquette));
        parts.extend(self.machine.as_ref().and_then(OnMachine::file).map(|file| file.label()));
        parts.extend(self.files.iter().map(InputFile::label));
        format!("{}\n", parts.join("; "))
    }
}

impl OnMachine {
    /// The file that describes it; that of a preset follows from the version.
    fn file(&self) -> Option<InputFile> {
        let is_file = self.description.contains('/') || self.description.ends_with(".toml");
        is_file.then(|| InputFile::known(&self.description, &self.blake3))
    }
}

/// The beginning of a list, such as the ranks of a group, that is too long for a line.
fn shortened(value: &str) -> String {
    let beginning = value.char_indices().nth(LONGEST_LIST).and_then(|(end, _)| value[..end].rsplit_once(','));
    beginning.map_or_else(|| value.to_owned(), |(beginning, _)| format!("{beginning},..."))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn changed(settings: &[(&str, &str)]) -> Machine {
        let settings: Vec<_> = settings.iter().map(|(field, value)| ((*field).into(), (*value).into())).collect();
        machines::load_with("moc-2-1", &settings).unwrap()
    }

    #[test]
    fn changes_of_the_machine_are_listed_in_order() {
        let machine = changed(&[("buffers", "4"), ("rate", "1GB/s"), ("buffers", "8")]);
        let experiment = Provenance::of("run fft").on(&machine).among(16);
        let line = experiment.line();
        assert!(line.starts_with("with buffers=4 rate=1GB/s buffers=8; maquette "), "{line}");
        let object = experiment.added_to(json!({"a": 1}));
        assert_eq!(object["experiment"]["machine"]["set"], json!(["buffers=4", "rate=1GB/s", "buffers=8"]));
        assert_eq!((&object["experiment"]["ranks"], &object["a"]), (&json!(16), &json!(1)));
    }

    #[test]
    fn a_seed_is_reported_if_it_makes_a_difference_or_was_given() {
        let fixed = changed(&[("selection", "fixed")]);
        let on_fixed = || Provenance::of("run fft").on(&fixed);
        let random = Provenance::of("run fft").on(&changed(&[("selection", "random")]));
        let line = |experiment: Provenance| experiment.line();
        assert!(!line(on_fixed().seeded(1, false)).contains("seed"));
        assert!(line(on_fixed().seeded(1, true)).contains("; seed 1 without effect, as nothing is random;"));
        assert!(line(random.seeded(7, true)).contains("; seed 7;"));
        let mut drawing = on_fixed().seeded(7, false);
        drawing.mark_random();
        assert!(line(drawing).contains("; seed 7;"));
    }

    #[test]
    fn a_file_is_reported_by_its_name_and_its_contents() {
        let file = |content| InputFile::new(Path::new("halo.csv"), content);
        let mut experiment = Provenance::of("run all-to-all");
        experiment.read(file(b"0,1\n1,0\n"));
        let line = experiment.line();
        assert!(line.contains("; halo.csv blake3 ") && line.trim_end().rsplit(' ').next().map(str::len) == Some(16));
        assert_ne!(file(b"0,1\n1,0\n"), file(b"0,1\n2,0\n"));
    }

    #[test]
    fn of_a_long_list_only_the_beginning_is_shown() {
        let ranks = |count: usize| (0..count).map(|rank| rank.to_string()).collect::<Vec<_>>().join(",");
        let path = "a".repeat(2 * LONGEST_LIST);
        let given = json!({"bytes": 8, "few": ranks(22), "file": path, "group": ranks(512)});
        let shown = Provenance::of("run").given(given).parameters_in_words();
        let expected = [format!("few {}", ranks(22)), format!("file {path}"), format!("group {},...", ranks(23))];
        assert_eq!((shown[0].as_str(), &shown[1..]), ("bytes 8", &expected[..]));
    }
}
