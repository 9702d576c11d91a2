//! What broadcasts and all-reduces have in common.

use std::borrow::Cow;

use programs::Group;
use programs::all_reduce::Sends;
use programs::catalogue::{Catalogue, Entry, MissingParameter, Parameter, Parameters};
use programs::postal::{Alpha, Lambda, Steps, broadcast_time};
use quantities::{Bytes, Duration, Rank};
use report::terminal::rounded;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::{Error, Finding, Site};

/// In which order ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankOrder {
    /// By number, from the root on and then from 0.
    Cyclic,
    /// At random, by the seed.
    Permuted,
}

impl RankOrder {
    const fn all() -> [RankOrder; 2] {
        [RankOrder::Cyclic, RankOrder::Permuted]
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            RankOrder::Cyclic => "cyclic",
            RankOrder::Permuted => "permuted",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            RankOrder::Cyclic => "By number, from the root on and then from 0: row by row on a mesh",
            RankOrder::Permuted => "At random, by the seed",
        }
    }
}

quantities::written_by_name!(RankOrder);

/// An algorithm of a collective, by its name.
#[derive(Debug)]
pub(super) struct Named<A: Catalogue>(pub(super) &'static Entry<A>);

impl<A: Catalogue> Clone for Named<A> {
    fn clone(&self) -> Named<A> {
        *self
    }
}

impl<A: Catalogue> Copy for Named<A> {}

impl<A: Catalogue> Serialize for Named<A> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de, A: Catalogue> Deserialize<'de> for Named<A> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Named<A>, D::Error> {
        let found = String::deserialize(from)?;
        quantities::by_name(&found, &A::entries(), |entry| entry.name).map(Named).map_err(D::Error::custom)
    }
}

impl<A: Catalogue> JsonSchema for Named<A> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Algorithm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let entries = A::entries().into_iter();
        let values: Vec<Schema> =
            entries.map(|entry| json_schema!({"const": entry.name, "description": entry.about})).collect();
        json_schema!({"oneOf": values})
    }
}

/// Who takes part, with how much data, and what parameters the algorithm may use.
pub(super) struct Collective {
    pub(super) bytes: Bytes,
    pub(super) root: Rank,
    pub(super) order: RankOrder,
    pub(super) lambda: Option<Lambda>,
    pub(super) t0: Option<Duration>,
    pub(super) alpha: Option<Alpha>,
    pub(super) segment: Option<Bytes>,
}

/// A collective whose algorithm has still to be made from its parameters.
pub(super) struct Setup {
    pub(super) group: Group,
    pub(super) ranks: u32,
    /// The parameters that the algorithm may use.
    pub(super) inputs: Parameters,
    requested_t0: Option<Duration>,
    is_permuted: bool,
    is_postal: bool,
    /// What it was given, to be repeated in the result.
    pub(super) parameters: Map<String, Value>,
}

impl Collective {
    /// Who takes part at `site`, in order.
    ///
    /// # Errors
    /// A number of ranks that the machine has not; a root that is none of them.
    pub(super) fn setup(&self, site: &Site) -> Result<Setup, Error> {
        let &Collective { bytes, root, order, lambda, t0: requested_t0, alpha, segment } = self;
        if requested_t0.is_some_and(Duration::is_zero) {
            return Err(Error::parameter("t0", "0", "a time above 0"));
        }
        let ranks = site.ranks()?;
        Site::check_rank("root", root, ranks)?;
        let group = match order {
            RankOrder::Cyclic => Group::from_source(root, ranks)?,
            RankOrder::Permuted => Group::permuted(root, ranks, site.seed)?,
        };
        let mut parameters = Map::new();
        parameters.insert("bytes".to_owned(), json!(bytes.0));
        parameters.insert("root".to_owned(), json!(root.0));
        let is_permuted = order == RankOrder::Permuted;
        if is_permuted {
            parameters.insert("order".to_owned(), json!(order.name()));
        }
        let (model_lambda, model_t0) = site.postal.unzip();
        let inputs = Parameters {
            lambda: lambda.or(model_lambda),
            t0: requested_t0.or(model_t0),
            alpha,
            segment,
            ..Parameters::of(ranks)
        };
        Ok(Setup { group, ranks, inputs, requested_t0, is_permuted, is_postal: site.postal.is_some(), parameters })
    }
}

impl Setup {
    /// The algorithm, made from its parameters. The result repeats these; one that it has not used is not allowed.
    ///
    /// # Errors
    /// A parameter that it lacks; one without effect.
    pub(super) fn algorithm<A: Catalogue>(&mut self, entry: &Entry<A>) -> Result<A, Error> {
        let algorithm = (entry.make)(&mut self.inputs).map_err(|MissingParameter { parameter, chosen }| {
            missing_parameter(parameter, chosen.unwrap_or(entry.name))
        })?;
        self.check_used(algorithm.name())?;
        let inputs = &self.inputs;
        let used = |parameter: Parameter, value: Value| (inputs.has_used(parameter), parameter.name(), value);
        let values = [
            used(Parameter::Alpha, json!(inputs.alpha.map(Alpha::as_f64))),
            used(Parameter::Lambda, json!(inputs.lambda.map(|lambda| lambda.to_string()))),
            used(Parameter::T0, json!(inputs.t0.map(|t0| t0.to_string()))),
            used(Parameter::Segment, json!(inputs.segment.map(|segment| segment.0))),
        ];
        for (_, name, value) in values.into_iter().filter(|(used, ..)| *used) {
            self.parameters.insert(name.to_owned(), value);
        }
        self.parameters.insert("algorithm".to_owned(), json!(algorithm.name()));
        Ok(algorithm)
    }

    /// Says whether the algorithm makes use of alpha, lambda and t0, where these were given. In the postal model the latter two are
    /// the machine's.
    fn check_used(&self, algorithm: &str) -> Result<(), Error> {
        let unused = |parameter| !self.inputs.has_used(parameter);
        if let Some(alpha) = self.inputs.alpha.filter(|_| unused(Parameter::Alpha)) {
            return Err(Error::parameter("alpha", alpha, format!("none, as {algorithm} does not split by shares")));
        }
        if self.is_postal {
            return Ok(());
        }
        if let Some(lambda) = self.inputs.lambda.filter(|_| unused(Parameter::Lambda)) {
            let allowed = match self.inputs.alpha {
                Some(_) => "none beside an alpha, by which the tree splits".to_owned(),
                None => format!("none on a machine, as {algorithm} is not made for a latency"),
            };
            return Err(Error::parameter("lambda", lambda, allowed));
        }
        if let Some(t0) = self.requested_t0.filter(|_| unused(Parameter::T0)) {
            let allowed = format!("none on a machine, as {algorithm} is not made for a step");
            return Err(Error::parameter("t0", t0, allowed));
        }
        Ok(())
    }

    /// Says whether ranks were to be in an order, where they have none.
    pub(super) fn check_unordered(&self, algorithm: &str) -> Result<(), Error> {
        if self.is_permuted {
            return Err(Error::parameter("order", "permuted", format!("cyclic, as {algorithm} reaches all at once")));
        }
        Ok(())
    }

    /// Whether the program draws the order of its ranks.
    pub(super) fn draws(&self) -> bool {
        self.is_permuted
    }

    /// In the postal model, the least time in which all ranks can hear of the first.
    pub(super) fn lower_bound(&self) -> Option<Finding> {
        let (lambda, t0) = (self.inputs.lambda.filter(|_| self.is_postal)?, self.inputs.t0?);
        let bound: Steps = broadcast_time(lambda, u64::from(self.group.len()));
        Some(Finding {
            name: "lower bound",
            text: format!("{}, {bound} steps of {}", rounded(bound.of(t0)), rounded(t0)),
            key: "lower_bound_ps",
            value: json!(bound.of(t0).picoseconds()),
        })
    }
}

/// When sends of `size` are over.
pub(super) fn sends(site: &Site, size: Bytes) -> Sends {
    if site.waits_for_receivers(size) { Sends::Synchronous } else { Sends::Early }
}

/// The error of a parameter that an algorithm lacks.
fn missing_parameter(parameter: Parameter, algorithm: &str) -> Error {
    let allowed = match parameter {
        Parameter::Alpha => {
            let allowed = format!("a latency, or an alpha in its place, by which {algorithm} splits its tree");
            return Error::parameter(Parameter::Lambda.name(), "nothing", allowed);
        }
        Parameter::Lambda => format!("a latency, which {algorithm} needs"),
        Parameter::T0 => format!("a time, which {algorithm} needs"),
        Parameter::Segment => format!("a size, which {algorithm} needs"),
    };
    Error::parameter(parameter.name(), "nothing", allowed)
}
