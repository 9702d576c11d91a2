//! How an algorithm is written in a plan, and how it is constructed from that.

use collectives::all_to_all::Irregular;
use collectives::catalogue::{Parameter, Parameters};
use collectives::postal::{Alpha, Lambda};
use collectives::schedule::{Pacing, SendReceiveOrder};
use collectives::{Collective, Performs as _};
use quantities::{Bytes, Duration};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::error::{PlaceInPlan, PlanError};
use crate::{ALL_AT_ONCE, Entry, MatrixExchange, Planned};

/// A range of sizes: more than one bound, and up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Only larger sizes; from zero on, if left out. [B]
    pub above: Option<Bytes>,
    /// Only up to this size; without a bound, if left out. [B]
    pub to: Option<Bytes>,
}

impl Sizes {
    /// Whether `size` is one of them.
    pub fn contain(&self, size: Bytes) -> bool {
        self.above.is_none_or(|above| size > above) && self.to.is_none_or(|to| size <= to)
    }
}

/// An algorithm as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmSpec {
    /// Only for larger sizes. [B]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Bytes>,
    /// Only up to this size. [B]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Bytes>,
    /// Its name.
    pub algorithm: Spanned<String>,
    /// The size of a segment. [B]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// The latency of a message in steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<Lambda>,
    /// The length of a step. [ps]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t0: Option<Duration>,
    /// The share that a source keeps for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Alpha>,
    /// What keeps the ranks of a schedule in step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
}

impl AlgorithmSpec {
    /// Only the name of an algorithm.
    pub fn name(algorithm: &str) -> AlgorithmSpec {
        let algorithm = Spanned::new(0..0, algorithm.to_owned());
        AlgorithmSpec {
            above: None,
            to: None,
            algorithm,
            segment: None,
            lambda: None,
            t0: None,
            alpha: None,
            pacing: None,
        }
    }

    /// The name of an algorithm of a catalogue, and the parameters that it has used.
    pub fn used(algorithm: &str, parameters: &Parameters) -> AlgorithmSpec {
        let used = |parameter| parameters.has_used(parameter);
        AlgorithmSpec {
            segment: parameters.segment.filter(|_| used(Parameter::Segment)),
            lambda: parameters.lambda.filter(|_| used(Parameter::Lambda)),
            t0: parameters.t0.filter(|_| used(Parameter::T0)),
            alpha: parameters.alpha.filter(|_| used(Parameter::Alpha)),
            ..AlgorithmSpec::name(algorithm)
        }
    }

    /// The same for these sizes.
    #[must_use]
    pub fn of_sizes(self, Sizes { above, to }: Sizes) -> AlgorithmSpec {
        AlgorithmSpec { above, to, ..self }
    }

    /// A short description: `pipeline, segment 4 KiB`.
    pub fn describe(&self) -> String {
        let words = [
            Some(self.algorithm.get_ref().clone()),
            self.segment.map(|segment| format!("segment {segment}")),
            self.alpha.map(|alpha| format!("alpha {alpha}")),
            self.lambda.map(|lambda| format!("lambda {lambda}")),
            self.t0.map(|t0| format!("t0 {t0}")),
            self.pacing.map(|pacing| pacing.name().to_owned()),
        ];
        words.into_iter().flatten().collect::<Vec<String>>().join(", ")
    }
}

/// What reads an algorithm from what is written in a field.
pub(crate) type Reader<'a, A> = &'a dyn Fn(&AlgorithmSpec, PlaceInPlan<'_>, &str) -> Result<A, PlanError>;

/// An algorithm of a collective of the list among so many ranks; parameters that it does not use must not be given.
pub(crate) fn listed(
    collective: Collective,
    ranks: u32,
) -> impl Fn(&AlgorithmSpec, PlaceInPlan<'_>, &str) -> Result<Planned, PlanError> {
    move |spec, place, field| {
        if let Some(pacing) = spec.pacing.filter(|_| collective.shape().is_exchange()) {
            return scheduled(spec, place, field).map(|algorithm| Planned::Scheduled(algorithm, pacing));
        }
        let AlgorithmSpec { algorithm: name, segment, lambda, t0, alpha, .. } = spec;
        let (span, of_name, name) = (name.span(), format!("{field}.algorithm"), name.get_ref().as_str());
        // No message-passing library has those that the machine's own network does.
        let possible = collective.summaries().into_iter().filter(|entry| !entry.needs.multicast());
        let known: Vec<&str> = possible.map(|entry| entry.name).collect();
        let (lambda, t0, alpha, segment) = (*lambda, *t0, *alpha, *segment);
        // Message-passing libraries send and receive at once.
        let order = Some(SendReceiveOrder::Sendrecv);
        let mut parameters = Parameters { segment, lambda, t0, alpha, order, ..Parameters::of(ranks) };
        let made = collective.algorithm(name, &mut parameters).filter(|_| known.contains(&name));
        let Some(made) = made else { return Err(place.unknown(span, &of_name, name, &known)) };
        if segment == Some(Bytes(0)) {
            return Err(place.found(span, &format!("{field}.segment"), "0 B", "1 B or more"));
        }
        let algorithm = made.map_err(|missing| {
            place.found(span.clone(), field, &format!("`{name}`: {missing}"), "an algorithm with that parameter")
        })?;
        let given = [
            (Parameter::Segment, segment.is_some()),
            (Parameter::Lambda, lambda.is_some()),
            (Parameter::T0, t0.is_some()),
            (Parameter::Alpha, alpha.is_some()),
        ];
        let idle = given.into_iter().find(|&(parameter, given)| given && !parameters.has_used(parameter));
        let idle = idle.map(|(parameter, _)| parameter.name()).or(spec.pacing.map(|_| "pacing"));
        if let Some(idle) = idle {
            return Err(without_effect(place, span, field, idle, name));
        }
        match algorithm.check(ranks) {
            Ok(()) => Ok(Planned::By(algorithm)),
            Err(error) => {
                Err(place.found(span, &of_name, &format!("`{name}`: {error}"), "one for this number of ranks"))
            }
        }
    }
}

fn without_effect(
    place: PlaceInPlan<'_>,
    span: std::ops::Range<usize>,
    field: &str,
    idle: &str,
    name: &str,
) -> PlanError {
    let allowed = format!("nothing with `{name}`, which makes no use of it");
    place.found(span, &format!("{field}.{idle}"), "a value", &allowed)
}

/// Checks that nothing but a pacing is given besides the name.
fn only_pacing(spec: &AlgorithmSpec, place: PlaceInPlan<'_>, field: &str) -> Result<(), PlanError> {
    let given = [
        ("segment", spec.segment.is_some()),
        ("lambda", spec.lambda.is_some()),
        ("t0", spec.t0.is_some()),
        ("alpha", spec.alpha.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((idle, _)) => Err(without_effect(place, spec.algorithm.span(), field, idle, spec.algorithm.get_ref())),
        None => Ok(()),
    }
}

/// The algorithm that makes a schedule, which is written with a pacing.
fn scheduled(spec: &AlgorithmSpec, place: PlaceInPlan<'_>, field: &str) -> Result<Irregular, PlanError> {
    only_pacing(spec, place, field)?;
    let (name, all) = (spec.algorithm.get_ref(), Irregular::all());
    let known: Vec<&str> = all.iter().map(|it| it.name()).collect();
    let unknown = || place.unknown(spec.algorithm.span(), &format!("{field}.algorithm"), name, &known);
    all.into_iter().find(|it| it.name() == name).ok_or_else(unknown)
}

impl MatrixExchange {
    /// What is written in `field`.
    pub(crate) fn of(spec: &AlgorithmSpec, place: PlaceInPlan<'_>, field: &str) -> Result<MatrixExchange, PlanError> {
        only_pacing(spec, place, field)?;
        let (name, span) = (spec.algorithm.get_ref(), spec.algorithm.span());
        if let Some(size) = spec.above.or(spec.to) {
            let allowed = "no size: no rank knows what the others have for each other";
            return Err(place.found(span, field, &size.to_string(), allowed));
        }
        if name == ALL_AT_ONCE {
            return match spec.pacing {
                None => Ok(MatrixExchange::Posted),
                Some(_) => Err(without_effect(place, span, field, "pacing", ALL_AT_ONCE)),
            };
        }
        let irregular = Irregular::all();
        let known: Vec<&str> = [ALL_AT_ONCE].into_iter().chain(irregular.iter().map(|it| it.name())).collect();
        let found = irregular.into_iter().find(|it| it.name() == name);
        let pacing = spec.pacing.unwrap_or_default();
        found
            .map(|algorithm| MatrixExchange::Scheduled(algorithm, pacing))
            .ok_or_else(|| place.unknown(span, &format!("{field}.algorithm"), name, &known))
    }
}

/// Constructs an entry from what is written in `field`.
pub(crate) fn entry<A>(
    spec: AlgorithmSpec,
    reader: Reader<'_, A>,
    place: PlaceInPlan<'_>,
    field: &str,
) -> Result<Entry<A>, PlanError> {
    let algorithm = reader(&spec, place, field)?;
    Ok(Entry { sizes: Sizes { above: spec.above, to: spec.to }, algorithm, spec })
}
