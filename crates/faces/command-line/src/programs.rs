//! `maquette programs`: the programs that can be run, and the algorithms of collectives with their costs.

use clap::Args;
use collectives::catalogue;
use collectives::{Collective, Summary};
use endpoint::Needs;
use experiment::Error;
use experiment::catalogue::{Description, Exchange, Kind, Parameter, descriptions};
use report::terminal::{Side, columns};
use serde_json::{Value, json};

use super::CommandOutput;
use super::failure::Failure;

/// What the symbols of the formulas of collectives mean, except for those of exchanges.
const LEGEND: &str =
    "n ranks, s bytes; t0, a step; lambda, the latency in steps; T_lambda(n), the least number of steps in which
the postal model reaches n ranks; o, L, G as in LogGP: overhead, latency, time of a byte";

/// What those of the formulas of exchanges mean.
const LEGEND_OF_EXCHANGES: &str =
    "n ranks, s bytes of each message; D, the most messages that one rank sends or receives, and W, the most bytes, in a complete
exchange n - 1 and (n - 1) s; o, L, G as in LogGP: overhead, latency, time of a byte";

/// What is listed about open-loop traffic, which is run like a program but has no ranks.
const TRAFFIC: &str = "Packets at a given rate, whether or not the network keeps up: see `maquette run traffic --help`";

/// List the programs that can be run, or the parameters and algorithms of one, with their formulas.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette programs\n  maquette programs all-reduce")]
pub(super) struct Arguments {
    /// A program.
    name: Option<String>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let programs = descriptions();
        let Some(name) = self.name else {
            let text =
                if as_json { super::json(&programs.iter().map(as_value).collect::<Vec<_>>()) } else { list(&programs) };
            return Ok(text.into());
        };
        let program = programs.iter().find(|program| program.name == name);
        let unknown = || {
            let known = programs.iter().map(|program| program.name.to_owned()).collect();
            Error::UnknownProgram { found: name.clone(), known }
        };
        let program = program.ok_or_else(unknown)?;
        Ok(if as_json { super::json(&as_value(program)) } else { text(program) }.into())
    }
}

fn of_exchange(exchange: Exchange) -> Summary {
    Summary {
        name: exchange.name(),
        about: exchange.about(),
        formula: exchange.formula(),
        parameters: if let Exchange::Forwarding(_) = exchange { &[catalogue::Parameter::Reshuffle] } else { &[] },
        needs: Needs::NOTHING,
    }
}

/// The algorithms of a collective of that name.
fn algorithms(program: &str) -> Vec<Summary> {
    match Collective::named(program) {
        // Schedules are made for exchanges, besides the algorithms that they have.
        Some(collective) if collective.shape().is_exchange() => Exchange::all().into_iter().map(of_exchange).collect(),
        Some(collective) => collective.summaries(),
        None => Vec::new(),
    }
}

fn list(programs: &[Description]) -> String {
    let row = |program: &Description| [program.name.to_owned(), first_paragraph(&program.about)];
    let traffic = ["traffic".to_owned(), TRAFFIC.to_owned()];
    let rows: Vec<[String; 2]> = programs.iter().map(row).chain([traffic]).collect();
    columns([Side::Left, Side::Left], &rows)
}

/// The first paragraph of a doc comment, on one line, without its final full stop.
fn first_paragraph(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

fn text(program: &Description) -> String {
    let mut text = format!("{}: {}\n", program.name, program.about.trim_end());
    if !program.parameters.is_empty() {
        text += "\nParameters:\n";
    }
    for parameter in &program.parameters {
        text += &format!("{}: {}\n    {}\n", parameter.name, first_paragraph(&parameter.about), allowed(parameter));
    }
    let algorithms = algorithms(program.name);
    if algorithms.is_empty() {
        return text;
    }
    text += "\nAlgorithms, with their times without contention:\n";
    for Summary { name, about, formula, .. } in algorithms {
        text += &format!("{name}: {about}\n    {formula}\n");
    }
    text + "\n" + legend(program) + "\n"
}

fn legend(program: &Description) -> &'static str {
    let is_exchange = Collective::named(program.name).is_some_and(|collective| collective.shape().is_exchange());
    if is_exchange { LEGEND_OF_EXCHANGES } else { LEGEND }
}

/// The allowed values of a parameter, and its default.
fn allowed(parameter: &Parameter) -> String {
    let usual = parameter.default.as_ref().map(|default| format!("; default {default}")).unwrap_or_default();
    let allowed = match &parameter.kind {
        Kind::Flag => "yes or no".to_owned(),
        Kind::Whole { least, most: u64::MAX } => format!("a whole number of at least {least}"),
        Kind::Whole { least, most } => format!("a whole number from {least} to {most}"),
        Kind::Names(names) | Kind::List(names) => {
            names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        }
        Kind::Text => parameter.value_name.clone(),
    };
    allowed + &usual
}

fn as_value(program: &Description) -> Value {
    let parameter = |parameter: &Parameter| {
        let names = match &parameter.kind {
            Kind::Names(names) | Kind::List(names) => names.iter().map(|(name, _)| name.as_str()).collect(),
            Kind::Flag | Kind::Whole { .. } | Kind::Text => Vec::new(),
        };
        json!({"name": parameter.name, "about": parameter.about, "default": parameter.default, "names": names})
    };
    let algorithm = |Summary { name, about, formula, parameters, .. }: Summary| {
        let parameters: Vec<&str> = parameters.iter().map(|parameter| parameter.name()).collect();
        json!({"name": name, "about": about, "formula": formula, "parameters": parameters})
    };
    let algorithms: Vec<Value> = algorithms(program.name).into_iter().map(algorithm).collect();
    let legend = (!algorithms.is_empty()).then(|| legend(program));
    json!({
        "name": program.name,
        "about": program.about,
        "parameters": program.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "algorithms": algorithms,
        "legend": legend,
    })
}
