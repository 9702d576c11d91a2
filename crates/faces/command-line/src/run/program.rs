//! The command of each program of the catalogue: its options are the program's parameters.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use collectives::postal::Lambda;
use experiment::catalogue::{self, Choice, Description, Kind, Parameter};
use experiment::{EngineName, Experiment, FigureName, FilePath, MachineChoice, Outputs, PostalModel, Setting};
use quantities::Duration;
use serde_json::{Map, Value};
use virtual_worlds::jobs::placement::Placement;

use crate::choice::{Suggesting, choice};
use crate::quantity::{duration, whole};

/// On what a program runs, by which engine, and what is written down.
#[derive(Args, Debug)]
pub(crate) struct RunOptions {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<PathBuf>,
    /// How many of the machine's nodes take part, from node 0; all, if left out. A LogGP machine has no number of its
    /// own, so it is required there.
    #[arg(long, value_name = "N", alias = "ranks", value_parser = whole(0..=u32::MAX))]
    nodes: Option<u32>,
    /// On which nodes ranks run: in-order, random, contiguous-switches, contiguous-groups, scattered-switches,
    /// scattered-groups, or a list such as 0-7,12; in order, if left out.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<Placement>,
    /// Set a field of the description: `buffers=4`, `channels.rate="20 MB/s"`. May be given more than once.
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<Setting>,
    /// The simulation engine; both give the same times. Fast, if left out.
    #[arg(long, value_name = "ENGINE", value_parser = choice::<EngineName>())]
    engine: Option<EngineName>,
    /// The seed of random choices; 1, if left out.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Write the path of every packet, or the fate of every Ethernet frame, to FILE.csv or FILE.arrow.
    #[arg(long, value_name = "FILE")]
    packets: Option<PathBuf>,
    /// Write a timeline of ranks and channels to FILE, as a Chrome trace for ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Write a page with charts of the run to FILE.html, for a browser: where the time went, the load of channels,
    /// which ranks waited for which.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write a figure of the run for a slide to FILE.svg: the one that says most about why it took so long, or --figure.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The same to FILE.png.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Which figure --svg and --png write.
    #[arg(long, value_name = "FIGURE", value_parser = choice::<FigureName>())]
    figure: Option<FigureName>,
    /// Show the critical path, the chain of operations that determines the makespan: where its time goes, and how long
    /// messages took.
    #[arg(long)]
    critical_path: bool,
    /// Write the experiment to FILE.toml, for `maquette run FILE.toml`, without running it.
    #[arg(long, value_name = "FILE")]
    write_experiment: Option<PathBuf>,
}

impl RunOptions {
    /// These options on the command of a program.
    pub(super) fn augment(command: Command, program: &Description) -> Command {
        let command = RunOptions::augment_args(command);
        let command = if program.any_ranks { command } else { command.mut_arg("nodes", |nodes| nodes.hide(true)) };
        let command = match program.default_machine {
            Some(usual) => command.mut_arg("machine", |machine| machine.default_value(usual)),
            None if program.has("lambda") => command,
            None if program.in_postal_model => postal(command),
            None => command.mut_arg("machine", |machine| machine.required(true)),
        };
        // First the machine, then the program's parameters, then the outputs.
        let places = [("machine", 1), ("nodes", 4), ("placement", 5), ("set", 6), ("engine", 7), ("seed", 8)];
        let places = places.into_iter().chain([
            ("critical_path", 300),
            ("report", 301),
            ("svg", 302),
            ("png", 303),
            ("figure", 304),
            ("packets", 305),
            ("timeline", 306),
            ("write_experiment", 307),
        ]);
        places.fold(command, |command, (name, place)| command.mut_arg(name, |argument| argument.display_order(place)))
    }

    /// The experiment of the program called `name` with these options, and the file to write it to.
    pub(super) fn experiment(
        self,
        name: &str,
        matches: &ArgMatches,
    ) -> Result<(Experiment, Option<PathBuf>), clap::Error> {
        let program = chosen(name, matches)?;
        let RunOptions { machine, nodes, placement, set, engine, seed, write_experiment, .. } = self;
        let RunOptions { packets, timeline, report, svg, png, figure, critical_path, .. } = self;
        let write = Outputs { packets, timeline, report, svg, png, figure, critical_path };
        let given = |name: &str| matches.try_get_one::<Lambda>(name).ok().flatten().copied();
        let step = |name: &str| matches.try_get_one::<Duration>(name).ok().flatten().copied();
        let (lambda, t0) = program.postal.unwrap_or((given("lambda"), step("t0")));
        let postal = lambda.filter(|_| machine.is_none()).map(|lambda| PostalModel { lambda, t0 });
        let machine = MachineChoice { name: machine, postal, set, ..MachineChoice::default() };
        let mut experiment = Experiment::of(program.choice, machine);
        for job in &mut experiment.jobs {
            job.ranks = nodes;
            job.placement = placement.clone().unwrap_or_default();
        }
        Ok((Experiment { engine, seed, write, ..experiment }, write_experiment))
    }
}

/// The options of programs that can run in the postal model instead of a machine.
fn postal(command: Command) -> Command {
    let lambda = Arg::new("lambda")
        .long("lambda")
        .value_name("L")
        .value_parser(clap::value_parser!(Lambda))
        .help(
            "Instead of a machine, the postal model: the latency of a message as a multiple of the time that it keeps its \
             sender busy; a number such as 1.8 or 9/5",
        )
        .display_order(2);
    let step = Arg::new("t0")
        .long("t0")
        .value_name("TIME")
        .value_parser(ValueParser::new(duration))
        .help("In the postal model, how long a sender needs for a message; a microsecond, if left out")
        .display_order(3)
        .conflicts_with("machine");
    command
        .mut_arg("machine", |machine| machine.required_unless_present("lambda").conflicts_with("lambda"))
        .arg(lambda)
        .arg(step)
}

/// A command for each program, with further options.
pub(crate) fn commands(options: impl Fn(Command, &Description) -> Command) -> Vec<Command> {
    let each = catalogue::descriptions().into_iter();
    each.map(|program| described(options(command(&program), &program), &program)).collect()
}

/// A command that says what its program is.
fn described(command: Command, program: &Description) -> Command {
    let (line, rest) = program.about.split_once("\n\n").unwrap_or((&program.about, ""));
    let line = unwrapped(line);
    let command = command.about(line.trim_end_matches('.').to_owned()).after_help(program.examples);
    if rest.is_empty() {
        command.long_about(None)
    } else {
        command.long_about(format!("{line}\n\n{}", unwrapped(rest)))
    }
}

/// The place of a program's first parameter among the options in its help.
const FIRST: usize = 100;

fn command(program: &Description) -> Command {
    let arguments = program.parameters.iter().zip(FIRST..);
    let arguments = arguments.map(|(parameter, place)| argument(program, parameter).display_order(place));
    Command::new(program.name).args(arguments)
}

/// Joins the lines of paragraphs, for the printer to wrap.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<String>>().join("\n\n")
}

/// The option of a parameter.
fn argument(program: &Description, parameter: &Parameter) -> Arg {
    let help = unwrapped(&parameter.about);
    let option = parameter.name.replace('_', "-");
    let argument = Arg::new(parameter.name.clone())
        .help(help.trim_end_matches('.').to_owned())
        .value_name(parameter.value_name.clone())
        .conflicts_with_all(&parameter.instead_of);
    let argument = if parameter.is_file { argument.required(true) } else { argument.long(option) };
    let argument = match &parameter.default {
        Some(default) => argument.default_value(default.clone()),
        None => argument,
    };
    let check = {
        let (program, parameter) = (program.clone(), parameter.clone());
        move |text: String| program.value(&parameter, &text)
    };
    match &parameter.kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        Kind::Names(names) => argument.value_parser(ValueParser::new(named(names).try_map(check))),
        Kind::List(names) => argument
            .value_delimiter(',')
            .num_args(1)
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(named(names).map(Value::from))),
        Kind::Text if parameter.value_name.starts_with("FILE") => {
            let path = OsStringValueParser::new().try_map(move |name| check(FilePath::new(&name).to_text()));
            argument.value_parser(ValueParser::new(path))
        }
        Kind::Whole { .. } | Kind::Text => {
            argument.value_parser(ValueParser::new(move |text: &str| check(text.to_owned())))
        }
    }
}

/// Reads one of a few names.
fn named(names: &[(String, String)]) -> impl TypedValueParser<Value = String> {
    let values = names.iter().map(|(name, about)| PossibleValue::new(name.clone()).help(about.clone()));
    Suggesting(PossibleValuesParser::new(values.collect::<Vec<PossibleValue>>()))
}

/// A program with its parameters, and its latency and step, if it has such parameters.
pub(crate) struct ChosenProgram {
    pub(crate) choice: Choice,
    postal: Option<(Option<Lambda>, Option<Duration>)>,
}

/// The program called `name`, with the parameters among `matches`.
pub(crate) fn chosen(name: &str, matches: &ArgMatches) -> Result<ChosenProgram, clap::Error> {
    let failed = |problem: String| clap::Error::raw(clap::error::ErrorKind::InvalidValue, problem + "\n");
    let program = catalogue::descriptions().into_iter().find(|program| program.name == name);
    let program = program.ok_or_else(|| failed(format!("there is no program called {name}")))?;
    let mut parameters = Map::new();
    for parameter in &program.parameters {
        let name = parameter.name.as_str();
        if matches.value_source(name) != Some(ValueSource::CommandLine) {
            continue;
        }
        let value = match parameter.kind {
            Kind::Flag => Some(Value::Bool(true)),
            Kind::List(_) => matches.get_many::<Value>(name).map(|values| values.cloned().collect()),
            _ => matches.get_one::<Value>(name).cloned(),
        };
        parameters.extend(value.map(|value| (name.to_owned(), value)));
    }
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let (lambda, t0) = (text("lambda").and_then(|it| it.parse().ok()), text("t0").and_then(|it| it.parse().ok()));
    let postal = program.has("lambda").then_some((lambda, t0));
    let choice = Choice::read(program.name, parameters).transpose().map_err(|error| failed(error.to_string()))?;
    let choice = choice.ok_or_else(|| failed(format!("there is no program called {name}")))?;
    Ok(ChosenProgram { choice, postal })
}
