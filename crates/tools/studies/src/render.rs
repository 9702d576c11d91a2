//! The report of a reproduction.

use serde_json::Value;

use super::outcome::{self, Check, ClaimOutcome, JudgedCondition, Verdict};
use super::{By, Chapter, Claim, Condition, Drawing, MissingAnswer, Paper, Point, Runs, Study, StudyRun, Subject};
use report::{Axis, Cell, Element, LineChart, Mark, Page, Series, Table, compact, element, fixed};

/// How many numbers of a condition are shown without expanding them.
const SHOWN_AT_ONCE: usize = 5;

/// A line of a chart: its name, its mark, its points.
pub type ChartLine = (String, Mark, Vec<(f64, f64)>);

/// A chart of lines.
pub fn chart(title: &str, x: Axis, y: Axis, lines: Vec<ChartLine>) -> Element {
    let series = lines.into_iter().map(|(name, mark, points)| Series { name, mark, points }).collect();
    LineChart { title: title.to_string(), x, y, series, baseline: None }.draw()
}

/// The whole report: a page for a single paper, or one page with a part for each of several.
pub fn page(chapters: &[Chapter]) -> String {
    let command = ["maquette reproduce"].into_iter().chain(chapters.iter().map(|chapter| chapter.paper.key));
    let command: Vec<&str> = command.collect();
    let foot = format!("Made by `{}`: the same program and descriptions give the same figures.", command.join(" "));
    if let [only] = chapters {
        let Paper { title, lead, .. } = only.paper;
        let sections = [summary(chapters)].into_iter().chain(only.sections.iter().cloned()).collect();
        return Page { title: title.to_string(), lead: lead.to_string(), sections, foot }.html();
    }
    let papers = chapters.iter().map(|chapter| {
        let target = format!("#{}", chapter.paper.key);
        element("li").child(element("a").attribute("href", target).text(chapter.paper.title))
    });
    let papers = element("nav").attribute("aria-label", "papers").child(element("ul").children(papers));
    let mut sections = vec![summary(chapters), papers];
    for Chapter { paper, sections: own, .. } in chapters {
        let head = element("h1").attribute("id", paper.key).text(paper.title);
        sections.push(element("section").class("paper").child(head).child(element("p").text(paper.lead)));
        sections.extend(own.iter().cloned());
    }
    Page {
        title: "Published results, reproduced".to_string(),
        lead: "The claims of several papers, each judged by our own runs, with its figures redrawn.".to_string(),
        sections,
        foot,
    }
    .html()
}

/// The sections about one paper.
pub fn sections<J: StudyRun, A>(
    paper: &Paper,
    subject: &Subject<'_, J, A>,
    outcomes: &[ClaimOutcome],
    runs: &Runs<J, A>,
) -> Vec<Element> {
    let Subject { studies, points, .. } = subject;
    let mut sections = vec![contents(paper, studies), verdicts(paper, studies, outcomes), machines(paper)];
    sections.extend(studies.iter().map(|study| {
        let point = points.iter().find(|point| point.place == study.place);
        section(paper, (study, point), outcomes, runs)
    }));
    sections
}

/// The first thing on the page: how many conditions of each paper have which verdict.
fn summary(chapters: &[Chapter]) -> Element {
    let columns = [Verdict::Met, Verdict::MetFitted, Verdict::Missed, Verdict::ContradictsPaper, Verdict::NotRun];
    let is_whole = chapters.iter().all(|chapter| tally_of(&chapter.outcomes)[Verdict::NotRun as usize] == 0);
    let columns = if is_whole { &columns[..4] } else { &columns[..] };
    let heads = columns.iter().map(|verdict| match verdict {
        Verdict::Met => "conditions met",
        Verdict::MetFitted => "met, fitted",
        Verdict::ContradictsPaper => "contradictory",
        Verdict::Missed | Verdict::NotRun => verdict.words(),
    });
    let heads: Vec<&str> = ["paper", "claims"].into_iter().chain(heads).chain(["robustness"]).collect();
    let mut table = Table::with_head(&heads).stacking();
    let mut row = |name: Cell, outcomes: &[&ClaimOutcome], robustness: String| {
        let tally = outcome::tally(outcomes.iter().flat_map(|it| &it.conditions).map(|condition| condition.verdict));
        let counts = columns.iter().map(|verdict| Cell::Number(tally[*verdict as usize].to_string()));
        let claims = Cell::Number(outcomes.len().to_string());
        table.rows.push([name, claims].into_iter().chain(counts).chain([Cell::Words(robustness)]).collect());
    };
    for Chapter { paper, outcomes, .. } in chapters {
        let link = element("a").attribute("href", format!("#{}", paper.key)).text(paper.title);
        let robustness = paper.robustness.as_ref().map_or("not known".to_string(), |it| it.summary(outcomes));
        row(Cell::Element(link), &outcomes.iter().collect::<Vec<_>>(), robustness);
    }
    if chapters.len() > 1 {
        let all: Vec<&ClaimOutcome> = chapters.iter().flat_map(|chapter| &chapter.outcomes).collect();
        row(Cell::Short("all".to_string()), &all, String::new());
    }
    let words = "A claim of a paper is one or more conditions, each with a verdict of its own: met, where nothing was fitted to it; met with \
                 parameters that were fitted to it; missed; or contradictory, where the paper itself prints something else. Robustness: how \
                 many of the conditions that are met are so in nine of ten draws of the costs that we chose.";
    element("section").class("summary").child(table.draw()).child(element("p").text(words))
}

fn tally_of(outcomes: &[ClaimOutcome]) -> [usize; 5] {
    outcome::tally(outcomes.iter().flat_map(|outcome| &outcome.conditions).map(|condition| condition.verdict))
}

/// The table of contents.
fn contents<J: StudyRun, A>(paper: &Paper, studies: &[Study<J, A>]) -> Element {
    let links = studies.iter().map(|study| {
        let target = format!("#{}", anchor(paper, study.place));
        element("li").child(element("a").attribute("href", target).text(capitalised(study.place)))
    });
    element("nav").attribute("aria-label", "figures").child(element("ul").children(links))
}

fn anchor(paper: &Paper, place: &str) -> String {
    format!("{}-{}", paper.key, place.replace(' ', "-"))
}

fn badge(verdict: Verdict) -> Element {
    element("span").class(format!("verdict {}", verdict.name())).text(verdict.words())
}

/// The table at the top: each claim with its verdict and a link to its section.
fn verdicts<J: StudyRun, A>(paper: &Paper, studies: &[Study<J, A>], outcomes: &[ClaimOutcome]) -> Element {
    let mut table = Table::with_head(&["claim", "verdict", "where", "kind", "published", "ours", "error"]).stacking();
    for outcome in outcomes {
        let link = element("a").attribute("href", format!("#{}", outcome.id)).child(element("code").text(&outcome.id));
        let study = studies.iter().find(|study| study.claims.contains(&outcome.id.as_str()));
        let claim = paper.claims.all.iter().find(|claim| claim.id == outcome.id);
        let numbers = claim.is_some_and(|claim| claim.published.is_some());
        let with_unit = |value: &Value| format!("{} {}", plain(value), outcome.unit.as_deref().unwrap_or(""));
        table.rows.push(vec![
            Cell::Element(link),
            Cell::Element(badge(outcome.verdict)),
            Cell::Short(study.map_or("", |study| study.place).to_string()),
            Cell::Short(outcome.kind.name().to_string()),
            Cell::Words(if numbers { with_unit(&outcome.published) } else { String::new() }),
            Cell::Words(if numbers { with_unit(&outcome.ours) } else { plain(&outcome.ours) }),
            Cell::Words(error(&outcome.error_percent)),
        ]);
    }
    let id = anchor(paper, "verdicts");
    element("section").attribute("id", id).child(element("h2").text("Verdicts")).child(table.draw())
}

fn machines(paper: &Paper) -> Element {
    let mut table = Table::with_head(&["machine", "description, and costs of its nodes"]).stacking();
    for (name, what) in &paper.machines {
        table.rows.push(vec![Cell::Element(element("code").text(name)), Cell::Words(what.clone())]);
    }
    element("section")
        .attribute("id", anchor(paper, "how"))
        .child(element("h2").text("How it was run"))
        .children(paper.remarks.iter().map(|remark| element("p").text(remark)))
        .child(table.draw())
}

fn section<J: StudyRun, A>(
    paper: &Paper,
    (study, point): (&Study<J, A>, Option<&Point<J, A>>),
    outcomes: &[ClaimOutcome],
    runs: &Runs<J, A>,
) -> Element {
    let figure = match (study.draw)(&paper.claims, runs) {
        Ok(drawing) => drawing.map(|drawing| figure(study.place, drawing)),
        Err(MissingAnswer::NotRun(what)) => {
            Some(element("p").text(format!("Not drawn: stopped before {what} was run.")))
        }
        Err(MissingAnswer::Failed(what, why)) => {
            Some(element("p").text(format!("Not drawn: the run of {what} failed: {why}")))
        }
    };
    let of_study = outcomes.iter().filter(|outcome| study.claims.contains(&outcome.id.as_str()));
    let blocks = of_study.filter_map(|outcome| {
        let claim = paper.claims.all.iter().find(|claim| claim.id == outcome.id)?;
        Some(claim_block(paper, claim, outcome))
    });
    element("section")
        .attribute("id", anchor(paper, study.place))
        .child(element("h2").text(format!("{}: {}", capitalised(study.place), study.title)))
        .child(
            element("div")
                .class("study")
                .children(figure)
                .children(point.map(repeated))
                .child(element("div").class("claims").children(blocks)),
        )
}

/// How a reader can have a point of a figure.
fn repeated<J, A>(point: &Point<J, A>) -> Element {
    let (how, text) = match point.by {
        By::Commands { lines, reads } => (format!("is at {reads} in what this prints"), lines.join("\n")),
        By::More { line, than, reads } => (
            format!("is by how much {reads} in what the first prints is more than in the second"),
            format!("{line}\n{than}"),
        ),
        By::Python { text } => ("is what this program prints".to_string(), text.to_string()),
    };
    let summary = element("summary").text(format!("A point of it: the {} {how}", point.what));
    element("details").class("repeat").child(summary).child(element("pre").child(element("code").text(text)))
}

fn figure(place: &str, drawing: Drawing) -> Element {
    let caption = format!("{}. {}", capitalised(place), drawing.caption);
    element("figure")
        .children(drawing.legend)
        .child(element("div").class("panels").children(drawing.panels))
        .child(element("figcaption").text(caption))
}

/// What the paper says, what we found, and whether they agree.
fn claim_block(paper: &Paper, claim: &Claim, outcome: &ClaimOutcome) -> Element {
    let head = element("p").class("head").child(element("code").text(&claim.id)).child(badge(outcome.verdict));
    let kept = paper.robustness.as_ref().and_then(|robustness| robustness.kept(outcome));
    let mut list = element("dl");
    let mut entry = |name: &str, content: Element| {
        let list_so_far = std::mem::replace(&mut list, element("dl"));
        list = list_so_far.child(element("dt").text(name)).child(content);
    };
    entry("The paper", element("dd").text(format!("{} ({})", claim.says, claim.source)));
    let rules = claim.conditions.iter().zip(&outcome.conditions).enumerate().map(|(number, (condition, judged))| {
        let kept = kept.and_then(|kept| Some((*kept.get(number)?, paper.robustness.as_ref()?.draws)));
        rule(condition, judged, kept)
    });
    entry("Conditions", element("dd").child(element("ul").class("conditions").children(rules)));
    if let Some(remark) = &claim.remark {
        entry("Remark", element("dd").text(remark));
    }
    if let Some(how) = &claim.rule_changed {
        entry("Rule changed", element("dd").text(how));
    }
    if let Some(what) = &claim.fitted {
        entry("Fitted", element("dd").text(what));
    }
    if !outcome.ours.is_null() {
        entry("Ours", element("dd").text(ours(outcome)));
    }
    let reasons = outcome.reasons();
    if !reasons.is_empty() {
        entry("Why, we think", element("dd").children(reasons.into_iter().map(|reason| element("p").text(reason))));
    } else if outcome.conditions.iter().all(|it| it.checks.is_empty()) && !outcome.note.is_empty() {
        entry("Note", element("dd").text(&outcome.note));
    }
    entry("What was run", element("dd").text(&outcome.ran));
    let class = format!("claim {}", outcome.verdict.name());
    element("div").class(class).attribute("id", &claim.id).child(head).child(list)
}

/// A condition: its verdict, what the quantity must be, and why, in how many draws it holds, and its numbers.
fn rule(condition: &Condition, judged: &JudgedCondition, kept: Option<(u32, u32)>) -> Element {
    let Condition { what, bound, because, data, .. } = condition;
    let data = data.map_or(String::new(), |data| format!(" ({})", data.words()));
    let because = because.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let kept = kept.map_or(String::new(), |(kept, draws)| format!(" Holds in {kept} of {draws} draws."));
    let other = judged.other.map_or(String::new(), |(name, verdict)| format!(" With the {name}: {}.", verdict.words()));
    element("li")
        .child(badge(judged.verdict))
        .child(element("b").text(format!(" {what} {}", bound.words(None))))
        .text(format!("{data}{because}.{kept}{other}"))
        .children(numbers(&judged.checks))
}

fn ours(outcome: &ClaimOutcome) -> String {
    let unit = outcome.unit.as_deref().unwrap_or("");
    match error(&outcome.error_percent) {
        error if error.is_empty() => format!("{} {unit}", plain(&outcome.ours)),
        error => format!("{} {unit}; error {error}", plain(&outcome.ours)),
    }
}

/// The numbers that fail and, expandable, all of them; a few are shown at once.
fn numbers(all: &[Check]) -> Vec<Element> {
    if all.is_empty() {
        return Vec::new();
    }
    if all.len() <= SHOWN_AT_ONCE {
        return vec![checks(&mut all.iter())];
    }
    let holding = all.iter().filter(|check| check.holds).count();
    let summary = element("summary").text(format!("{holding} of {} hold", all.len()));
    let details = element("details").child(summary).child(checks(&mut all.iter()));
    if holding == all.len() {
        return vec![details];
    }
    vec![checks(&mut all.iter().filter(|check| !check.holds).take(SHOWN_AT_ONCE)), details]
}

fn checks(checks: &mut dyn Iterator<Item = &Check>) -> Element {
    element("ul").class("checks").children(checks.map(|check| {
        let (class, sign) = if check.holds { ("mark-holds", "\u{2713} ") } else { ("mark-fails", "\u{2717} ") };
        element("li").child(element("span").class(class).text(sign)).text(&check.says)
    }))
}

fn error(value: &Value) -> String {
    if value.is_null() { String::new() } else { format!("{} %", plain(value)) }
}

/// A value for people to read: numbers rounded, several of them by name.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |number| compact(rounded(number))),
        Value::Object(fields) => {
            let each = fields.iter().map(|(name, value)| format!("{} {}", name.replace('_', "-"), plain(value)));
            each.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn rounded(number: f64) -> f64 {
    let digits = if number.abs() >= 100.0 { 0 } else { 2 };
    fixed(number, digits).parse().unwrap_or(number)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
