//! The collectives of the list, as programs of the catalogue: what each can be told follows from its row.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;

use collectives::Group;
use collectives::all_reduce::{Number, Operation, Operator, Sends};
use collectives::catalogue::{Catalogue, MissingParameter, Parameter, Parameters};
use collectives::postal::{Alpha, Lambda, Steps, broadcast_time};
use collectives::{
    AnyAlgorithm, Collective, CollectiveProgram, Data, Division, Holders, MulticastProgram, Performs, Row, Sizes,
    Summary,
};
use quantities::{Bytes, Duration, Rank};
use report::terminal::rounded;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{Entry, Member, RankList, Size};
use crate::{Error, Finding, Prepared, Ready, Site};

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
pub(super) struct Named<A: Catalogue>(pub(super) &'static collectives::catalogue::Entry<A>);

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

/// The parameters of any collective. One that has no use for one of them has no such parameter: see [`fields`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Given {
    /// Size of a block.
    bytes: Size,
    /// The algorithm; if left out, one that suits the number of nodes and the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    pub(super) operator: Operator,
    /// The latency of a message in steps of t0, a number such as 1.8 or 9/5: that of the postal model, or the one for
    /// which an algorithm on a machine is built. None on a machine, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<Lambda>,
    /// The duration of a step, after which a sender is done with a message. In the postal model a microsecond, if left
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    t0: Option<Duration>,
    /// In a tree by splitting, the share of its nodes that a source keeps for itself, from 0.5 to under 1; if left out,
    /// from the look-up table for lambda.
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Alpha>,
    /// Size of a segment, for an algorithm that cuts messages; 4 KiB, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<Size>,
    /// How long it takes to copy a byte into a message that is forwarded, or out of one; no time, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    reshuffle: Option<Duration>,
    /// The root; if left out, rank 0, or the first of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Rank>,
    /// The order of the ranks.
    #[schemars(extend("x-value" = "ORDER"))]
    pub(super) order: RankOrder,
    /// The ranks that take part, in the order in which they do, such as 5,1,3,7 or 0-7; all, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<RankList>,
}

impl Default for Given {
    fn default() -> Given {
        Given {
            bytes: Size(Bytes(1024)),
            algorithm: None,
            operator: Operator::Of(Operation::Sum, Number::F64),
            lambda: None,
            t0: None,
            alpha: None,
            segment: None,
            reshuffle: None,
            root: None,
            order: RankOrder::Cyclic,
            group: None,
        }
    }
}

/// The names of the parameters that each collective has use for, by its shape and by what its algorithms ask for.
static FIELDS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let of = |collective: &Collective| {
        let (shape, entries) = (collective.shape(), collective.summaries());
        let asks = |parameter: Parameter| entries.iter().any(|entry| entry.parameters.contains(&parameter));
        let all = [
            ("bytes", shape.blocks != Division::Nothing),
            ("algorithm", true),
            ("operator", shape.reduction.is_some()),
            (Parameter::Lambda.name(), asks(Parameter::Lambda)),
            (Parameter::T0.name(), asks(Parameter::T0) || asks(Parameter::Lambda)),
            (Parameter::Alpha.name(), asks(Parameter::Alpha)),
            (Parameter::Segment.name(), asks(Parameter::Segment)),
            (Parameter::Reshuffle.name(), asks(Parameter::Reshuffle)),
            // A tree has a root, even where all ranks end with the same.
            ("root", shape.has_root() || asks(Parameter::Alpha)),
            ("order", true),
            ("group", true),
        ];
        all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
    };
    Collective::ALL.iter().map(of).collect()
});

/// The names of the parameters that a collective has use for.
fn fields(collective: Collective) -> &'static [&'static str] {
    &FIELDS[collective as usize]
}

/// What a parameter is for, where that depends on the collective.
fn about_field(collective: Collective, field: &str) -> Option<&'static str> {
    let shape = collective.shape();
    let is_for_latency = |it: &Summary| it.parameters.contains(&Parameter::Lambda);
    match field {
        "algorithm" if collective.summaries().iter().any(is_for_latency) => Some(
            "The algorithm; if left out, one made for the lambda or the alpha, where one is given, otherwise one that suits the number of \
             nodes and the size.",
        ),
        "bytes" => Some(match (shape.blocks, shape.before) {
            (Division::Whole, Holders::Root) => "Size of the message.",
            (Division::PerRank, Holders::Root) => "Size of the block for each node.",
            (Division::PerRank, Holders::Everyone) => "Size of each node's block of the result.",
            (Division::Nothing | Division::Whole | Division::PerRank | Division::PerPair, _) => {
                "Size of each node's data."
            }
        }),
        "root" => match (shape.before, shape.after) {
            (Holders::Root, _) => {
                Some("The root, which begins with all data; if left out, rank 0, or the first of a group.")
            }
            (_, Holders::Root) if shape.reduction.is_some() => {
                Some("The root, which ends with the result; if left out, rank 0, or the first of a group.")
            }
            (_, Holders::Root) => {
                Some("The root, which ends with all data; if left out, rank 0, or the first of a group.")
            }
            _ => Some("The root of a tree; if left out, rank 0, or the first of a group."),
        },
        _ => None,
    }
}

/// A collective of the list as a program of the catalogue.
pub struct Listed<R>(Given, PhantomData<fn() -> R>);

impl<R> Clone for Listed<R> {
    fn clone(&self) -> Listed<R> {
        Listed(self.0.clone(), PhantomData)
    }
}

impl<R> fmt::Debug for Listed<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl<R> Default for Listed<R> {
    fn default() -> Listed<R> {
        Listed(Given::default(), PhantomData)
    }
}

impl<R: Row> Serialize for Listed<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all = serde_json::to_value(&self.0).map_err(serde::ser::Error::custom)?;
        let written = fields(R::COLLECTIVE).iter().filter_map(|name| Some((*name, all.get(*name)?)));
        to.collect_map(written)
    }
}

impl<'de, R: Row> Deserialize<'de> for Listed<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Listed<R>, D::Error> {
        from.deserialize_map(ListedVisitor(PhantomData::<fn() -> R>))
    }
}

struct ListedVisitor<R>(PhantomData<fn() -> R>);

impl<'de, R: Row> Visitor<'de> for ListedVisitor<R> {
    type Value = Listed<R>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the parameters of {}", R::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed<R>, A::Error> {
        let (known, mut given) = (fields(R::COLLECTIVE), Given::default());
        while let Some(name) = map.next_key_seed(FieldName(known))? {
            match name.as_str() {
                "bytes" => given.bytes = map.next_value()?,
                "algorithm" => {
                    let named: Option<Named<R::Algorithm>> = map.next_value()?;
                    given.algorithm = named.map(|Named(entry)| entry.name.to_owned());
                }
                "operator" => given.operator = map.next_value()?,
                "lambda" => given.lambda = map.next_value()?,
                "t0" => given.t0 = map.next_value()?,
                "alpha" => given.alpha = map.next_value()?,
                "segment" => given.segment = map.next_value()?,
                "reshuffle" => given.reshuffle = map.next_value()?,
                "root" => given.root = map.next_value()?,
                "order" => given.order = map.next_value()?,
                "group" => given.group = map.next_value()?,
                name => return Err(A::Error::unknown_field(name, known)),
            }
        }
        Ok(Listed(given, PhantomData))
    }
}

/// Reads the name of a parameter, one of these: an error is then where the name is.
struct FieldName(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FieldName {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "field identifier")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<String, E> {
        if self.0.contains(&name) { Ok(name.to_owned()) } else { Err(E::unknown_field(name, self.0)) }
    }
}

impl<R: Row> JsonSchema for Listed<R> {
    fn schema_name() -> Cow<'static, str> {
        R::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut of_any = Given::json_schema(generator);
        let algorithm = generator.subschema_for::<Option<Named<R::Algorithm>>>();
        let mut properties = Map::new();
        for &name in fields(R::COLLECTIVE) {
            let Some(mut schema) = of_any.get("properties").and_then(|all| all.get(name)).cloned() else { continue };
            if let (true, Some(parts)) = (name == "algorithm", schema.as_object_mut()) {
                parts.remove("type");
                parts.extend(algorithm.as_object().cloned().unwrap_or_default());
            }
            if let Some(about) = about_field(R::COLLECTIVE, name) {
                schema["description"] = about.into();
            }
            properties.insert(name.to_owned(), schema);
        }
        of_any.insert("properties".to_owned(), Value::Object(properties));
        of_any.insert("description".to_owned(), R::ABOUT.into());
        of_any.insert("additionalProperties".to_owned(), false.into());
        of_any
    }
}

impl<R: Row> Entry for Listed<R> {
    const NAME: &'static str = R::NAME;
    const EXAMPLES: &'static str = R::EXAMPLES;

    /// Where an algorithm can be made for the latency of the model.
    fn is_in_postal_model() -> bool {
        fields(R::COLLECTIVE).contains(&Parameter::Lambda.name())
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        prepared(R::COLLECTIVE, self.0.clone(), site)
    }
}

/// A collective whose algorithm has still to be made from its parameters.
#[derive(Debug)]
pub(super) struct Setup {
    collective: Collective,
    given: Given,
    /// The root, as a rank of the program.
    root: Rank,
    /// Of the program; fewer take part, if a group does.
    ranks: u32,
    /// The parameters that the algorithm may use.
    inputs: Parameters,
    is_postal: bool,
}

impl Setup {
    /// Which it is.
    pub(super) fn collective(&self) -> Collective {
        self.collective
    }

    /// What it was given.
    pub(super) fn given(&self) -> &Given {
        &self.given
    }

    /// The root, as a rank of the program.
    pub(super) fn root(&self) -> Rank {
        self.root
    }

    /// The collective at `site`, with these parameters.
    ///
    /// # Errors
    /// A number of ranks that the machine has not; a root that is none of them; a step or a segment of nothing.
    pub(super) fn new(collective: Collective, given: Given, site: &Site<'_>) -> Result<Setup, Error> {
        if given.t0.is_some_and(Duration::is_zero) {
            return Err(Error::parameter("t0", "0", "a time above 0"));
        }
        if given.segment == Some(Size(Bytes(0))) {
            return Err(Error::parameter("segment", Bytes(0), "1 B or more"));
        }
        let ranks = site.ranks()?;
        let (mut members, mut root) = (ranks, given.root.unwrap_or_default());
        Site::check_rank("root", root, ranks)?;
        if let Some(list) = &given.group {
            let group = list.group();
            let allowed = format!("ranks from 0 to {}", ranks - 1);
            group.check(ranks).map_err(|_| Error::parameter("group", list, allowed))?;
            if given.order == RankOrder::Permuted {
                return Err(Error::parameter("order", "permuted", "none beside a group, which has an order"));
            }
            root = given.root.unwrap_or(group.source());
            if group.place_of(root).is_none() {
                return Err(Error::parameter("root", root, format!("a rank of the group {list}")));
            }
            members = group.len();
        }
        let (model_lambda, model_t0) = site.postal.unzip();
        let inputs = Parameters {
            lambda: given.lambda.or(model_lambda),
            t0: given.t0.or(model_t0),
            alpha: given.alpha,
            segment: given.segment.map(|Size(bytes)| bytes),
            reshuffle: given.reshuffle,
            ..Parameters::of(members)
        };
        Ok(Setup { collective, given, root, ranks, inputs, is_postal: site.postal.is_some() })
    }

    /// The name of the algorithm that was asked for, or of the usual one for blocks of `bytes`.
    pub(super) fn algorithm_name(&self, bytes: Bytes) -> &str {
        let usual = || self.collective.usual(&self.inputs, bytes);
        self.given.algorithm.as_deref().unwrap_or_else(usual)
    }

    /// The algorithm that was asked for, or the usual one for blocks of `bytes`, and the parameters that it has used.
    ///
    /// # Errors
    /// A parameter that it lacks; one that it has no use for.
    pub(super) fn algorithm(&self, bytes: Bytes) -> Result<(AnyAlgorithm, Parameters), Error> {
        let mut inputs = self.inputs.clone();
        let name = self.algorithm_name(bytes);
        let known = self.collective.summaries().into_iter().find(|summary| summary.name == name);
        if inputs.segment.is_some() && known.is_some_and(|it| !it.parameters.contains(&Parameter::Segment)) {
            let allowed = format!("none, as {name} does not cut messages");
            return Err(Error::parameter("segment", "a size", allowed));
        }
        let made = self.collective.algorithm(name, &mut inputs);
        let made = made.ok_or_else(|| Error::parameter("algorithm", name, self.collective.algorithms().join(", ")))?;
        let algorithm = made
            .map_err(|MissingParameter { parameter, chosen }| missing_parameter(parameter, chosen.unwrap_or(name)))?;
        self.check_used(&inputs, algorithm.name())?;
        if algorithm.needs().multicast() && self.given.order == RankOrder::Permuted {
            let allowed = format!("cyclic, as {} reaches all at once", algorithm.name());
            return Err(Error::parameter("order", "permuted", allowed));
        }
        if let Some(group) = self.given.group.as_ref().filter(|_| algorithm.needs().multicast()) {
            let allowed = format!("none, as {} reaches all ranks", algorithm.name());
            return Err(Error::parameter("group", group, allowed));
        }
        Ok((algorithm, inputs))
    }

    /// Says whether the algorithm makes use of alpha, lambda and t0, where these were given. In the postal model the
    /// latter two are the machine's.
    fn check_used(&self, inputs: &Parameters, algorithm: &str) -> Result<(), Error> {
        let unused = |parameter| !inputs.has_used(parameter);
        if let Some(alpha) = inputs.alpha.filter(|_| unused(Parameter::Alpha)) {
            return Err(Error::parameter("alpha", alpha, format!("none, as {algorithm} does not split by shares")));
        }
        if self.is_postal {
            return Ok(());
        }
        if let Some(lambda) = inputs.lambda.filter(|_| unused(Parameter::Lambda)) {
            let allowed = match inputs.alpha {
                Some(_) => "none beside an alpha, by which the tree splits".to_owned(),
                None => format!("none on a machine, as {algorithm} is not made for a latency"),
            };
            return Err(Error::parameter("lambda", lambda, allowed));
        }
        if let Some(t0) = self.given.t0.filter(|_| unused(Parameter::T0)) {
            let allowed = format!("none on a machine, as {algorithm} is not made for a step");
            return Err(Error::parameter("t0", t0, allowed));
        }
        Ok(())
    }

    /// What the result repeats: the parameters that the collective has, and those that the algorithm has used.
    pub(super) fn parameters(&self, (algorithm, inputs): &(AnyAlgorithm, Parameters)) -> Map<String, Value> {
        let (given, stated) = (&self.given, fields(self.collective));
        let used = |parameter: Parameter, value: Value| (parameter.name(), value, inputs.has_used(parameter));
        let all = [
            ("bytes", json!(given.bytes.0.0), stated.contains(&"bytes")),
            ("root", json!(self.root.0), stated.contains(&"root")),
            ("operator", json!(given.operator.to_string()), stated.contains(&"operator")),
            ("order", json!(given.order.name()), given.order == RankOrder::Permuted),
            ("group", json!(given.group), given.group.is_some()),
            used(Parameter::Alpha, json!(inputs.alpha.map(Alpha::as_f64))),
            used(Parameter::Lambda, json!(inputs.lambda.map(|lambda| lambda.to_string()))),
            used(Parameter::T0, json!(inputs.t0.map(|t0| t0.to_string()))),
            used(Parameter::Segment, json!(inputs.segment.map(|segment| segment.0))),
            used(Parameter::Reshuffle, json!(inputs.reshuffle.map(|time| time.to_string()))),
            ("algorithm", json!(algorithm.name()), true),
        ];
        all.into_iter().filter(|all| all.2).map(|(name, value, _)| (name.to_owned(), value)).collect()
    }

    /// In the postal model, the least time in which all ranks can hear of one, or one of all.
    fn lower_bound(&self) -> Option<Finding> {
        let (lambda, t0) = (self.inputs.lambda.filter(|_| self.is_postal)?, self.inputs.t0?);
        let informed = self.collective.shape().least_traffic(self.inputs.ranks).ranks;
        let bound: Steps = broadcast_time(lambda, u64::from(informed));
        Some(Finding {
            name: "lower bound",
            text: format!("{}, {bound} steps of {}", rounded(bound.of(t0)), rounded(t0)),
            key: "lower_bound_ps",
            value: json!(bound.of(t0).picoseconds()),
        })
    }
}

/// The program for `site`: a collective by the algorithm that is named, or by its usual one.
fn prepared(collective: Collective, given: Given, site: &Site<'_>) -> Result<Box<dyn Ready>, Error> {
    let setup = Setup::new(collective, given, site)?;
    let Given { bytes: Size(bytes), operator, order, .. } = setup.given;
    let made = setup.algorithm(bytes)?;
    let parameters = Value::Object(setup.parameters(&made));
    let (algorithm, root, ranks) = (made.0, setup.root, setup.inputs.ranks);
    // A permuted group begins with its root.
    let (group, place) = match (&setup.given.group, order) {
        (Some(group), _) => (group.group().clone(), group.group().place_of(root).map_or(root, Rank)),
        (None, RankOrder::Cyclic) => (Group::from_source(Rank(0), ranks)?, root),
        (None, RankOrder::Permuted) => (Group::permuted(root, ranks, site.seed)?, Rank(0)),
    };
    // Only blocks of several ranks are joined.
    if collective.shape().blocks == Division::PerRank {
        let longest = algorithm.cost(Lambda::ONE, ranks, bytes).chain.into_iter().map(|stretch| stretch.bytes).max();
        site.check_largest("bytes", longest.unwrap_or(bytes))?;
    }
    let messages = algorithm.messages(ranks);
    let needs_multicast = algorithm.needs().multicast();
    let data = if site.is_real() { Data::Bytes } else { Data::Sizes };
    let (sends, sizes) = (sends(site, bytes), Sizes::Same(bytes));
    let program = CollectiveProgram { algorithm, group, root: place, operator, sends, sizes, data };
    Ok(match needs_multicast {
        true => ready(MulticastProgram(program), parameters, messages, &setup),
        false => ready(program, parameters, messages, &setup),
    })
}

fn ready<P>(program: P, parameters: Value, messages: Option<u64>, setup: &Setup) -> Box<dyn Ready>
where
    P: Member + Send + 'static,
    P::Output: Send,
{
    let mut prepared = Prepared::new(program, setup.ranks, parameters).expecting(messages);
    // Where only the root has data at first, the others wait for it.
    prepared.notes.first = (setup.collective.shape().before == Holders::Root).then_some(setup.root);
    prepared.notes.taking_part = setup.given.group.as_ref().map(|list| list.group().len());
    prepared.notes.draws = setup.given.order == RankOrder::Permuted;
    let bound = setup.lower_bound();
    Box::new(prepared.with_findings(move |_, _| bound.into_iter().collect()))
}

/// When sends of `size` are over.
pub(super) fn sends(site: &Site<'_>, size: Bytes) -> Sends {
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
        Parameter::Reshuffle => format!("the time of a byte, which {algorithm} needs"),
        Parameter::Order => format!("an order of sends and receives, which {algorithm} needs"),
    };
    Error::parameter(parameter.name(), "nothing", allowed)
}
