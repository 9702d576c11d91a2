//! `maquette pattern`: the traffic of an application.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collectives::schedule::{MOST_RANKS, Pattern};
use programs::applications::patterns::{Application, ApplicationError, PRINTED_PROCESSORS, Printed};
use quantities::Bytes;
use serde_json::{Value, json};

use super::choice::value_name;
use super::failure::Failure;
use super::quantity::whole;
use super::{CommandOutput, working};
use experiment::Provenance;
use formats::output::WholeFile;
use formats::traffic_matrix::csv;
use report::terminal::{Side, columns};

/// Make the traffic pattern of an application: how many bytes each rank sends to each other.
///
/// The applications are those of the CM-5 paper's Table 12. Its meshes are not known: those here are Delaunay meshes of
/// random points around a wing, cut by recursive coordinate bisection.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  maquette pattern euler-9k --parts 32 --write euler.csv\n  \
                        maquette pattern random --parts 64 --density 10 --bytes 512 --seed 7 --write random.csv")]
pub(super) struct Arguments {
    /// The application.
    #[arg(value_name = "NAME")]
    name: Name,
    /// The number of parts it is cut into, one per rank.
    #[arg(long, value_name = "P", default_value_t = PRINTED_PROCESSORS)]
    parts: NonZeroU16,
    /// The seed of the mesh's points, or of the random messages; 1, if left out.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Alter the pattern so that it has exactly the density and mean size that the paper prints for 32 processors.
    #[arg(long)]
    synthetic: bool,
    /// For random messages: how many, in percent of those of an all-to-all [default: 25].
    #[arg(long, value_name = "PERCENT", value_parser = whole(0..=100_u8))]
    density: Option<u8>,
    /// For random messages: the size of each [default: 256].
    #[arg(long, value_name = "B")]
    bytes: Option<Bytes>,
    /// Write the pattern to FILE.csv: row i, column j is what rank i sends to rank j.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// The default number of random messages. [percent of those of an all-to-all]
const DEFAULT_DENSITY: u8 = 25;
/// The default size of each.
const DEFAULT_SIZE: Bytes = Bytes(256);

/// The application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Conjugate gradient on a five-point grid of 256 x 64 points, 8 bytes each.
    ConjugateGradient,
    /// An Euler solver on a tetrahedral mesh of 545 points, 20 bytes each.
    #[value(name = "euler-545")]
    Euler545,
    /// The same on 2,000 points.
    #[value(name = "euler-2k")]
    Euler2k,
    /// The same on 3,000 points, 40 bytes each.
    #[value(name = "euler-3k")]
    Euler3k,
    /// The same on 9,000 points.
    #[value(name = "euler-9k")]
    Euler9k,
    /// Random messages of one size.
    Random,
}

impl Name {
    fn application(self) -> Option<Application> {
        match self {
            Name::ConjugateGradient => Some(Application::ConjugateGradient),
            Name::Euler545 => Some(Application::Euler545),
            Name::Euler2k => Some(Application::Euler2k),
            Name::Euler3k => Some(Application::Euler3k),
            Name::Euler9k => Some(Application::Euler9k),
            Name::Random => None,
        }
    }
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let application = self.name.application();
        self.check(application)?;
        let file = self.write.as_deref().map(WholeFile::create).transpose()?;
        let (experiment, requested) = (self.experiment(application), self.clone());
        let pattern = working("making the pattern", move || requested.pattern(application))?;
        if let Some(mut file) = file {
            match csv::write(&pattern, &mut file) {
                Ok(()) => file.finish()?,
                Err(cause) => return Err(file.unwritable(cause).into()),
            }
        }
        let printed = application.filter(|_| self.parts == PRINTED_PROCESSORS).map(Application::printed);
        let text = if as_json {
            super::json(&experiment.added_to(self.as_object(&pattern, printed)))
        } else {
            self.text(&pattern, printed, &experiment)
        };
        Ok(text.into())
    }

    fn check(&self, application: Option<Application>) -> Result<(), Failure> {
        if u32::from(self.parts.get()) > MOST_RANKS {
            return Err(Failure::argument("--parts", self.parts, format!("1 to {MOST_RANKS}")));
        }
        if self.synthetic && (application.is_none() || self.parts != PRINTED_PROCESSORS) {
            let found = format!("{} in {} parts", self.title(), self.parts);
            let allowed = format!("an application in {PRINTED_PROCESSORS} parts, for which the paper prints figures");
            return Err(Failure::argument("--synthetic", found, allowed));
        }
        if let Some(path) = self.write.as_deref().filter(|path| path.extension() != Some("csv".as_ref())) {
            return Err(Failure::argument("--write", path.display(), "a name that ends in .csv"));
        }
        if let Some(seed) = self.seed.filter(|_| self.name == Name::ConjugateGradient) {
            let allowed = "none, as nothing of a grid is random";
            return Err(Failure::argument("--seed", seed, allowed));
        }
        for (argument, given) in [("--density", self.density.is_some()), ("--bytes", self.bytes.is_some())] {
            if given && application.is_some() {
                return Err(Failure::argument(argument, self.title(), "random messages only"));
            }
        }
        Ok(())
    }

    fn pattern(&self, application: Option<Application>) -> Result<Pattern, Failure> {
        let made = match application {
            Some(application) if self.synthetic => application.synthetic(self.seed()),
            Some(application) => application.pattern(self.parts, self.seed()),
            None => {
                let millionths = 10_000 * u64::from(self.density.unwrap_or(DEFAULT_DENSITY));
                let bytes = self.bytes.unwrap_or(DEFAULT_SIZE);
                Pattern::random(self.parts.get().into(), millionths, bytes, self.seed()).map_err(ApplicationError::from)
            }
        };
        made.map_err(Failure::from)
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// What is generated.
    fn experiment(&self, application: Option<Application>) -> Provenance {
        let mut parameters = json!({"name": self.title(), "parts": self.parts, "synthetic": self.synthetic});
        if application.is_none() {
            parameters["density"] = json!(self.density.unwrap_or(DEFAULT_DENSITY));
            parameters["bytes"] = json!(self.bytes.unwrap_or(DEFAULT_SIZE).0);
        }
        let experiment = Provenance::of("pattern").given(parameters);
        // The first line of the text has it.
        if self.name == Name::ConjugateGradient { experiment } else { experiment.seeded(self.seed(), false) }
    }

    fn title(&self) -> String {
        value_name(self.name)
    }

    fn text(&self, pattern: &Pattern, printed: Option<Printed>, experiment: &Provenance) -> String {
        let kind = if self.synthetic { ", synthetic: altered to the printed figures" } else { "" };
        let Figures { messages, percent, mean_bytes, total, most } = Figures::of(pattern);
        let mut rows = vec![
            ["messages".to_string(), format!("{messages}, {percent:.1}% of those of an all-to-all")],
            ["mean size".to_string(), format!("{mean_bytes:.1} B")],
            ["in total".to_string(), total.to_string()],
            [
                "most of a rank".to_string(),
                format!("{most} messages sent or received: at least as many steps are needed"),
            ],
        ];
        if let Some(Printed { percent, mean_bytes }) = printed {
            rows.push(["printed".to_string(), format!("{percent}% of {mean_bytes} B, in the CM-5 paper's Table 12")]);
        }
        let heading = format!("{} in {} parts (seed {}{kind})", self.title(), self.parts, self.seed());
        format!("{heading}\n{}\n{}", experiment.line(), columns([Side::Left, Side::Left], &rows))
    }

    fn as_object(&self, pattern: &Pattern, printed: Option<Printed>) -> Value {
        let Figures { messages, percent, mean_bytes, total, most } = Figures::of(pattern);
        json!({
            "pattern": self.title(),
            "parts": self.parts,
            "seed": self.seed(),
            "synthetic": self.synthetic || self.name == Name::Random,
            "messages": messages,
            "percent": percent,
            "mean_bytes": mean_bytes,
            "total_bytes": total.0,
            "most_messages_of_a_rank": most,
            "printed": printed.map_or(Value::Null, |it| json!({"percent": it.percent, "mean_bytes": it.mean_bytes})),
        })
    }
}

/// The reported figures of a pattern.
struct Figures {
    messages: usize,
    percent: f64,
    mean_bytes: f64,
    total: Bytes,
    most: u32,
}

impl Figures {
    fn of(pattern: &Pattern) -> Figures {
        let messages = pattern.messages().len();
        let total: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
        Figures {
            messages,
            percent: 100.0 * pattern.density(),
            mean_bytes: total as f64 / messages.max(1) as f64,
            total: Bytes(total),
            most: pattern.most_messages_of_a_rank(),
        }
    }
}
