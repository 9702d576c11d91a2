//! The file itself.

use quantities::reading::{self, Misread};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::entry::{AlgorithmSpec, PlannableAlgorithm, entry};
use crate::error::{Place, PlanError};
use crate::{Entry, MadeFor, Plan, PlanEntries, VERSION};

/// The contents of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    maquette_plan: Spanned<u32>,
    machine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blake3: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    set: Vec<String>,
    ranks: Spanned<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    only_blocking: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    broadcast: Vec<Spanned<AlgorithmSpec>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    all_reduce: Vec<Spanned<AlgorithmSpec>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    all_to_all: Vec<Spanned<AlgorithmSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    all_to_allv: Option<Spanned<AlgorithmSpec>>,
    end: Option<End>,
}

/// The last table: a file that was cut short anywhere lacks it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {}

pub(crate) fn read(text: &str, file: &str) -> Result<Plan, PlanError> {
    let place = Place { text, file };
    let parsed = toml::Deserializer::parse(text).map_err(Misread::unparsed);
    let form: Form = parsed.and_then(reading::read).map_err(|misread| place.misread(misread))?;
    let (version, ranks) = (*form.maquette_plan.get_ref(), *form.ranks.get_ref());
    if version != VERSION {
        let allowed = format!("{VERSION}, the version that this maquette reads");
        return Err(place.found(form.maquette_plan.span(), "maquette_plan", &version.to_string(), &allowed));
    }
    if ranks < 2 {
        return Err(place.found(form.ranks.span(), "ranks", &ranks.to_string(), "at least 2"));
    }
    if form.end.is_none() {
        let allowed = "`[end]` as the last line, without which the plan was cut short";
        return Err(place.found(text.len()..text.len(), "end", "the end of the file", allowed));
    }
    let matrix = form.all_to_allv.map(|spec| entry(spec.into_inner(), ranks, place, "all_to_allv"));
    Ok(Plan {
        machine: form.machine,
        blake3: form.blake3,
        set: form.set,
        ranks,
        only_blocking: form.only_blocking,
        broadcast: entries(form.broadcast, ranks, place, "broadcast")?,
        all_reduce: entries(form.all_reduce, ranks, place, "all_reduce")?,
        all_to_all: entries(form.all_to_all, ranks, place, "all_to_all")?,
        all_to_allv: matrix.transpose()?,
    })
}

/// The entries of a collective, whose sizes increase and do not overlap.
fn entries<A: PlannableAlgorithm>(
    written: Vec<Spanned<AlgorithmSpec>>,
    ranks: u32,
    place: Place<'_>,
    collective: &str,
) -> Result<Vec<Entry<A>>, PlanError> {
    let mut entries: Vec<Entry<A>> = Vec::with_capacity(written.len());
    for (number, spec) in written.into_iter().enumerate() {
        let (field, span) = (format!("{collective}[{number}]"), spec.span());
        let entry: Entry<A> = entry(spec.into_inner(), ranks, place, &field)?;
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
    let Plan { machine, blake3, set, ranks, only_blocking, broadcast, all_reduce, all_to_all, all_to_allv } = plan;
    let made_for = MadeFor { machine: machine.clone(), blake3: blake3.clone(), set: set.clone(), ranks: *ranks };
    let written = PlanEntries {
        only_blocking: *only_blocking,
        broadcast: algorithms(broadcast),
        all_reduce: algorithms(all_reduce),
        all_to_all: algorithms(all_to_all),
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
    let PlanEntries { only_blocking, broadcast, all_reduce, all_to_all, all_to_allv } = written;
    let form = Form {
        maquette_plan: nowhere(VERSION),
        machine,
        blake3,
        set,
        ranks: nowhere(ranks),
        only_blocking,
        broadcast: broadcast.into_iter().map(nowhere).collect(),
        all_reduce: all_reduce.into_iter().map(nowhere).collect(),
        all_to_all: all_to_all.into_iter().map(nowhere).collect(),
        all_to_allv: all_to_allv.map(nowhere),
        end: Some(End {}),
    };
    // Texts and numbers, which TOML can always represent.
    toml::to_string(&form).unwrap_or_default()
}
