//! The file itself.

use std::fmt;
use std::sync::LazyLock;

use collectives::Collective;
use quantities::reading::{self, Misread};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Spanned;

use crate::entry::{self, AlgorithmSpec, Reader, entry};
use crate::error::{PlaceInPlan, PlanError};
use crate::{Entry, Listed, MadeFor, MatrixExchange, Plan, PlanEntries, VERSION, planned};

/// The contents of the file.
struct Form {
    version: Spanned<u32>,
    machine: String,
    blake3: Option<String>,
    set: Vec<String>,
    ranks: Spanned<u32>,
    only_blocking: bool,
    listed: Listed<Spanned<AlgorithmSpec>>,
    all_to_allv: Option<Spanned<AlgorithmSpec>>,
    end: Option<End>,
}

const VERSION_FIELD: &str = "maquette_plan";

/// The name of the field with the entries of a collective.
fn field_of(collective: Collective) -> String {
    collective.name().replace('-', "_")
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_map(None)?;
        fields.serialize_entry(VERSION_FIELD, &self.version)?;
        fields.serialize_entry("machine", &self.machine)?;
        if let Some(blake3) = &self.blake3 {
            fields.serialize_entry("blake3", blake3)?;
        }
        if !self.set.is_empty() {
            fields.serialize_entry("set", &self.set)?;
        }
        fields.serialize_entry("ranks", &self.ranks)?;
        if self.only_blocking {
            fields.serialize_entry("only_blocking", &self.only_blocking)?;
        }
        for (collective, entries) in &self.listed {
            fields.serialize_entry(&field_of(*collective), entries)?;
        }
        if let Some(entry) = &self.all_to_allv {
            fields.serialize_entry("all_to_allv", entry)?;
        }
        fields.serialize_entry("end", &self.end)?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Form {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Form, D::Error> {
        from.deserialize_map(FormVisitor)
    }
}

struct FormVisitor;

impl<'de> Visitor<'de> for FormVisitor {
    type Value = Form;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a plan")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Form, A::Error> {
        let (mut version, mut machine, mut ranks) = (None, None, None);
        let (mut blake3, mut set, mut only_blocking, mut end) = (None, Vec::new(), false, None);
        let (mut listed, mut all_to_allv) = (Listed::new(), None);
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                VERSION_FIELD => version = Some(fields.next_value()?),
                "machine" => machine = Some(fields.next_value()?),
                "blake3" => blake3 = Some(fields.next_value()?),
                "set" => set = fields.next_value()?,
                "ranks" => ranks = Some(fields.next_value()?),
                "only_blocking" => only_blocking = fields.next_value()?,
                "all_to_allv" => all_to_allv = Some(fields.next_value()?),
                "end" => end = Some(fields.next_value()?),
                name => match planned().find(|collective| field_of(*collective) == name) {
                    Some(collective) => drop(listed.insert(collective, fields.next_value()?)),
                    None => return Err(A::Error::unknown_field(name, &FIELDS)),
                },
            }
        }
        Ok(Form {
            version: version.ok_or_else(|| A::Error::missing_field(VERSION_FIELD))?,
            machine: machine.ok_or_else(|| A::Error::missing_field("machine"))?,
            blake3,
            set,
            ranks: ranks.ok_or_else(|| A::Error::missing_field("ranks"))?,
            only_blocking,
            listed,
            all_to_allv,
            end,
        })
    }
}

/// The names of all fields.
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    // A name of serde's lives as long as the program, and there are few.
    let collectives = planned().map(|collective| &*field_of(collective).leak());
    let before = [VERSION_FIELD, "machine", "blake3", "set", "ranks", "only_blocking"];
    before.into_iter().chain(collectives).chain(["all_to_allv", "end"]).collect()
});

/// The last table: a file that was cut short anywhere lacks it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {}

pub(crate) fn read(text: &str, file: &str) -> Result<Plan, PlanError> {
    let place = PlaceInPlan { text, file };
    let parsed = toml::Deserializer::parse(text).map_err(Misread::unparsed);
    let form: Form = parsed.and_then(reading::read).map_err(|misread| place.misread(misread))?;
    let (version, ranks) = (*form.version.get_ref(), *form.ranks.get_ref());
    if version != VERSION {
        let allowed = format!("{VERSION}, the version that this maquette reads");
        return Err(place.found(form.version.span(), VERSION_FIELD, &version.to_string(), &allowed));
    }
    if ranks < 2 {
        return Err(place.found(form.ranks.span(), "ranks", &ranks.to_string(), "at least 2"));
    }
    if form.end.is_none() {
        let allowed = "`[end]` as the last line, without which the plan was cut short";
        return Err(place.found(text.len()..text.len(), "end", "the end of the file", allowed));
    }
    let matrix = form.all_to_allv.map(|spec| entry(spec.into_inner(), &MatrixExchange::of, place, "all_to_allv"));
    let listed = form.listed.into_iter().map(|(collective, written)| {
        Ok((collective, entries(written, &entry::listed(collective, ranks), place, &field_of(collective))?))
    });
    Ok(Plan {
        machine: form.machine,
        blake3: form.blake3,
        set: form.set,
        ranks,
        only_blocking: form.only_blocking,
        listed: listed.collect::<Result<_, PlanError>>()?,
        all_to_allv: matrix.transpose()?,
    })
}

/// The entries of a collective, whose sizes increase and do not overlap.
fn entries<A>(
    written: Vec<Spanned<AlgorithmSpec>>,
    reader: Reader<'_, A>,
    place: PlaceInPlan<'_>,
    collective: &str,
) -> Result<Vec<Entry<A>>, PlanError> {
    let mut entries: Vec<Entry<A>> = Vec::with_capacity(written.len());
    for (number, spec) in written.into_iter().enumerate() {
        let (field, span) = (format!("{collective}[{number}]"), spec.span());
        let entry: Entry<A> = entry(spec.into_inner(), reader, place, &field)?;
        let sizes = entry.sizes;
        if let (Some(above), Some(to)) = (sizes.above, sizes.to)
            && above >= to
        {
            let (found, allowed) = (format!("sizes above {above} and up to {to}"), "a range that is not empty");
            return Err(place.found(span, &field, &found, allowed));
        }
        if let Some(last) = entries.last().map(|last| last.sizes.to) {
            let follows = matches!((last, sizes.above), (Some(last), Some(above)) if above >= last);
            if !follows {
                let written = |bound: Option<_>| bound.map_or("nothing".to_owned(), |bound| format!("{bound}"));
                let (found, allowed) =
                    (format!("`above` of {}", written(sizes.above)), "the `to` of the entry before, or more");
                return Err(place.found(span, &field, &found, allowed));
            }
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// A plan as text.
pub(crate) fn write(plan: &Plan) -> String {
    fn algorithms<A>(entries: &[Entry<A>]) -> Vec<AlgorithmSpec> {
        entries.iter().map(|entry| entry.spec.clone()).collect()
    }
    let Plan { machine, blake3, set, ranks, only_blocking, listed, all_to_allv } = plan;
    let made_for = MadeFor { machine: machine.clone(), blake3: blake3.clone(), set: set.clone(), ranks: *ranks };
    let written = PlanEntries {
        only_blocking: *only_blocking,
        listed: listed.iter().map(|(collective, entries)| (*collective, algorithms(entries))).collect(),
        all_to_allv: all_to_allv.as_ref().map(|entry| entry.spec.clone()),
    };
    text_of(made_for, written)
}

/// The contents of a file, as text.
pub(crate) fn text_of(made_for: MadeFor, written: PlanEntries) -> String {
    fn nowhere<T>(value: T) -> Spanned<T> {
        Spanned::new(0..0, value)
    }
    let MadeFor { machine, blake3, set, ranks } = made_for;
    let PlanEntries { only_blocking, listed, all_to_allv } = written;
    let all = |specs: Vec<AlgorithmSpec>| specs.into_iter().map(nowhere).collect::<Vec<_>>();
    let listed = listed.into_iter().filter(|(_, specs)| !specs.is_empty());
    let form = Form {
        version: nowhere(VERSION),
        machine,
        blake3,
        set,
        ranks: nowhere(ranks),
        only_blocking,
        listed: listed.map(|(collective, specs)| (collective, all(specs))).collect(),
        all_to_allv: all_to_allv.map(nowhere),
        end: Some(End {}),
    };
    // Texts and numbers, which TOML can always represent.
    toml::to_string(&form).unwrap_or_default()
}
