//! The claims of a paper, and the conditions under which they are met: `experiments/<paper>/claims.toml`, read and
//! checked.
//!
//! The file holds every published number, every threshold and the reason for it; a study computes quantities, and knows
//! none of these. Each condition of a claim has a verdict of its own: it holds if it does for every number of its
//! quantity.
//!
//! ```toml
//! [difference]
//! percent = 1
//! because = "the width of a line in the figures"
//!
//! [[claim]]
//! id = "paper.place.subject"
//! kind = "number"
//! source = "section 1"
//! says = "An empty message takes 88 us; sends of long ones do not slow each other down."
//! published = { empty_us = 88 }
//! fitted = "what receiving a message costs, to these 88 us"
//!
//! [[claim.condition]]
//! quantity = "empty_us"
//! what = "time of an empty message [us]"
//! within_percent = 3
//! because = "the paper rounds to a microsecond, and its clock ticks every two"
//! data = "training"
//!
//! [[claim.condition]]
//! quantity = "slow_down"
//! what = "time of a send beside seven others, over its time alone"
//! clearly_below = 1.1
//! missed_because = "all eight cross one link"
//! ```
//!
//! `clearly_below = 1.1` is less than 1.1 by the difference of the paper, here 1 %. A condition with `contradicts` in
//! place of `missed_because` is one that something else in the paper contradicts, and says what.

use std::ops::Range;

use quantities::reading::{self, Misread};
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::condition::{Bound, Data, Limits};
use super::runs::MissingAnswer;

/// A statement of a paper that a run can confirm or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name: paper, place, subject.
    pub id: String,
    /// The kind of statement it is.
    pub kind: Kind,
    /// Where the paper makes it.
    pub source: String,
    /// What the paper states, in our words.
    pub says: String,
    /// The published number or numbers, if there are any.
    pub published: Option<Value>,
    /// Their unit.
    pub unit: Option<String>,
    /// The parameters that were fitted to what it states, or chosen by it, if any.
    pub fitted: Option<String>,
    /// How its rule was changed after a run, if it was.
    pub rule_changed: Option<String>,
    /// A remark on how it is judged, if the conditions do not say it.
    pub remark: Option<String>,
    /// Its conditions, all of which must hold; there is at least one.
    pub conditions: Vec<Condition>,
    /// In which line of the file it stands, from 1.
    pub line: usize,
}

/// A condition on a quantity that the study computes.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The name of the quantity.
    pub quantity: String,
    /// What it is, in words, with its unit.
    pub what: String,
    /// What it must be.
    pub bound: Bound,
    /// The reason for the tolerance.
    pub because: Option<String>,
    /// Why we think that it does not hold, if it does not.
    pub missed_because: Option<String>,
    /// What else the paper prints that contradicts it, if it does.
    pub contradicts: Option<String>,
    /// Whether parameters were fitted to the numbers that it tests.
    pub data: Option<Data>,
    /// In which line of the file it stands, from 1.
    pub line: usize,
}

/// The kind of statement that a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A result that must be reproduced to the last digit.
    Exact,
    /// A printed measurement.
    Number,
    /// What is faster, where a curve bends, where curves cross.
    Order,
}

impl Kind {
    /// Its name in claims.toml.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Number => "number",
            Kind::Order => "order",
        }
    }
}

/// The claims of a paper.
#[derive(Clone, Debug)]
pub struct Claims {
    /// The file that has them.
    pub file: &'static str,
    /// What counts as a difference where the paper says faster, or more.
    pub difference: Difference,
    /// All of them, in its order.
    pub all: Vec<Claim>,
}

/// An error in a file of claims.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}{}", did_you_mean(.suggestion.as_deref()))]
pub struct ClaimsError {
    /// The file.
    pub file: &'static str,
    /// In which line, from 1.
    pub line: usize,
    /// What is wrong there: the field, what was found, what is allowed.
    pub problem: String,
    /// The nearest name to an unknown one.
    pub suggestion: Option<String>,
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// What counts as a difference in a paper, one number for all that it compares in words.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// How far two numbers must be apart. [%, or percentage points]
    pub percent: f64,
    /// The reason for it.
    pub because: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Difference,
    claim: Vec<WrittenClaim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenClaim {
    id: Spanned<String>,
    kind: Kind,
    source: String,
    says: String,
    published: Option<Value>,
    unit: Option<String>,
    fitted: Option<String>,
    rule_changed: Option<String>,
    remark: Option<String>,
    #[serde(default)]
    condition: Vec<WrittenCondition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCondition {
    quantity: Spanned<String>,
    what: String,
    at_least: Option<f64>,
    at_most: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
    clearly_above: Option<f64>,
    clearly_below: Option<f64>,
    equals: Option<f64>,
    within: Option<f64>,
    within_percent: Option<f64>,
    within_factor: Option<f64>,
    because: Option<String>,
    missed_because: Option<String>,
    contradicts: Option<String>,
    data: Option<Data>,
}

impl Claims {
    /// The claims that `text` lists, which is the content of `file`.
    ///
    /// # Errors
    /// What is wrong with `text`, and in which line.
    pub fn parse(file: &'static str, text: &str) -> Result<Claims, ClaimsError> {
        let mut reader = ClaimsReader { file, text, difference_percent: 0.0 };
        let parsed = toml::Deserializer::parse(text).map_err(Misread::unparsed);
        let written: File = parsed.and_then(reading::read).map_err(|misread| reader.misread(misread))?;
        reader.difference_percent = written.difference.percent;
        let mut all: Vec<Claim> = Vec::new();
        for claim in written.claim {
            let (span, claim) = (claim.id.span(), reader.claim(claim)?);
            if all.iter().any(|before| before.id == claim.id) {
                return Err(reader.error(span, format!("`id`: `{}` is there twice", claim.id)));
            }
            all.push(claim);
        }
        Ok(Claims { file, difference: written.difference, all })
    }

    /// The claim with that name.
    ///
    /// # Errors
    /// A gap, when there is none.
    pub fn get(&self, id: &str) -> Result<&Claim, MissingAnswer> {
        let missing = || MissingAnswer::Failed(self.file.to_string(), format!("there is no claim `{id}`"));
        self.all.iter().find(|claim| claim.id == id).ok_or_else(missing)
    }
}

/// Turns the text into claims, and says where something is wrong.
struct ClaimsReader<'a> {
    file: &'static str,
    text: &'a str,
    difference_percent: f64,
}

impl ClaimsReader<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        self.text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1)
    }

    fn error(&self, span: Range<usize>, problem: String) -> ClaimsError {
        ClaimsError { file: self.file, line: self.line(&span), problem, suggestion: None }
    }

    /// What can't be read by serde, with the nearest name to an unknown one.
    fn misread(&self, misread: Misread<toml::de::Error>) -> ClaimsError {
        let Misread { mistake, cause, .. } = misread;
        let problem = match &mistake {
            Some(mistake) => mistake.to_string(),
            None => cause.message().trim_end().replace('\n', "; "),
        };
        let suggestion = mistake.and_then(|mistake| mistake.nearest()).map(str::to_string);
        ClaimsError { suggestion, ..self.error(cause.span().unwrap_or(0..0), problem) }
    }

    fn claim(&self, written: WrittenClaim) -> Result<Claim, ClaimsError> {
        let span = written.id.span();
        let id = written.id.into_inner();
        let conditions = written.condition.into_iter();
        let conditions = conditions.map(|one| self.condition(&id, written.published.as_ref(), one));
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        if conditions.is_empty() {
            return Err(self.error(span, format!("`condition`: `{id}` has none; a claim needs at least one")));
        }
        let trained = conditions.iter().any(|condition| condition.data == Some(Data::Training));
        if trained != written.fitted.is_some() {
            let problem = "goes with a condition with `data = \"training\"`, and such a condition with it";
            return Err(self.error(span, format!("`fitted` of `{id}`: it {problem}")));
        }
        Ok(Claim {
            line: self.line(&span),
            id,
            kind: written.kind,
            source: written.source,
            says: written.says,
            published: written.published,
            unit: written.unit,
            fitted: written.fitted,
            rule_changed: written.rule_changed,
            remark: written.remark,
            conditions,
        })
    }

    fn condition(
        &self,
        id: &str,
        published: Option<&Value>,
        written: WrittenCondition,
    ) -> Result<Condition, ClaimsError> {
        let span = written.quantity.span();
        let limits = Limits {
            at_least: written.at_least,
            at_most: written.at_most,
            above: written.above,
            below: written.below,
            clearly_above: written.clearly_above,
            clearly_below: written.clearly_below,
            equals: written.equals,
            within: written.within,
            within_percent: written.within_percent,
            within_factor: written.within_factor,
        };
        let quantity = written.quantity.as_ref().as_str();
        let wrong = |problem: String| self.error(span.clone(), format!("`{quantity}` of `{id}`: {problem}"));
        let bound = limits.bound(self.difference_percent).map_err(wrong)?;
        if bound.is_tolerance() && written.because.is_none() {
            return Err(wrong("a tolerance needs its reason, `because`".to_string()));
        }
        if matches!(bound, Bound::Near(_)) && printed(published, quantity).is_none() {
            let error = wrong("`published` has no such number, which it is to be near".to_string());
            let names = published.and_then(Value::as_table).into_iter().flat_map(|table| table.keys());
            let suggestion = quantities::nearest(quantity, names.map(String::as_str)).map(str::to_string);
            return Err(ClaimsError { suggestion, ..error });
        }
        if written.missed_because.is_some() && written.contradicts.is_some() {
            return Err(wrong("`missed_because` goes not with `contradicts`, which says why, too".to_string()));
        }
        Ok(Condition {
            line: self.line(&span),
            quantity: quantity.to_string(),
            what: written.what,
            bound,
            because: written.because,
            missed_because: written.missed_because,
            contradicts: written.contradicts,
            data: written.data,
        })
    }
}

/// The published number of a quantity: under its name, if there are several numbers.
fn printed<'a>(published: Option<&'a Value>, quantity: &str) -> Option<&'a Value> {
    match published? {
        Value::Table(table) => table.get(quantity),
        only => Some(only),
    }
}

/// A number, integer or not.
fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(number).collect()
}

impl Claim {
    /// The published numbers of `quantity`, one for each of the `cases`. A single number stands for all of them, and a
    /// single row for each of several rows of cases.
    pub fn printed_for(&self, quantity: &str, cases: usize) -> Option<Vec<f64>> {
        let value = printed(self.published.as_ref(), quantity)?;
        let row = number(value).map(|number| vec![number]).or_else(|| numbers(value))?;
        let whole = !row.is_empty() && cases > 0 && cases.is_multiple_of(row.len());
        whole.then(|| row.repeat(cases / row.len()))
    }

    /// The published number of that name; if the claim has a single number, that one.
    ///
    /// # Errors
    /// A gap, when there is none.
    pub fn printed(&self, name: &str) -> Result<f64, MissingAnswer> {
        self.find(name, number)
    }

    /// A published row of numbers.
    ///
    /// # Errors
    /// A gap, when there is none.
    pub fn printed_row(&self, name: &str) -> Result<Vec<f64>, MissingAnswer> {
        self.find(name, numbers)
    }

    /// A published table of numbers, row by row.
    ///
    /// # Errors
    /// A gap, when there is none.
    pub fn printed_rows(&self, name: &str) -> Result<Vec<Vec<f64>>, MissingAnswer> {
        self.find(name, |value| value.as_array()?.iter().map(numbers).collect())
    }

    fn find<T>(&self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T, MissingAnswer> {
        let missing =
            || MissingAnswer::Failed(self.id.clone(), format!("nothing of that form is published as `{name}`"));
        printed(self.published.as_ref(), name).and_then(read).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[[claim]]\nid = 'p.q'\nkind = 'number'\nsource = 's'\nsays = 'x'\npublished = { time_us = 4, rates = [1, 2] }\n";

    fn parsed(rest: &str) -> Result<Claim, String> {
        let read = Claims::parse("claims.toml", &format!("{HEAD}{rest}"));
        read.map(|mut claims| claims.all.remove(0)).map_err(|error| error.to_string())
    }

    fn condition(rest: &str) -> Result<Claim, String> {
        parsed(&format!("[[claim.condition]]\nquantity = 'time_us'\nwhat = 'time [us]'\n{rest}"))
    }

    #[test]
    fn a_claim_is_read_with_its_conditions() {
        let claim = condition("within_percent = 3\nbecause = 'it is rounded'").unwrap();
        assert_eq!((claim.line, claim.conditions[0].line), (2, 8));
        assert_eq!(claim.printed("time_us"), Ok(4.0));
        assert_eq!(claim.printed_row("rates"), Ok(vec![1.0, 2.0]));
        assert_eq!(claim.printed_for("time_us", 3), Some(vec![4.0; 3]));
        let rates = |cases| claim.printed_for("rates", cases);
        assert_eq!([rates(2), rates(4)], [Some(vec![1.0, 2.0]), Some(vec![1.0, 2.0, 1.0, 2.0])]);
        assert_eq!([rates(0), rates(1), rates(3)], [None, None, None]);
        assert!(claim.printed("rates").is_err() && claim.printed("tim_us").is_err());
    }

    #[test]
    fn an_error_names_the_line_the_field_and_the_nearest_name() {
        for (rest, says) in [
            ("at_leas = 3", "claims.toml:10: there is no field `at_leas`"),
            ("at_leas = 3", "; did you mean `at_least`?"),
            ("at_least = 'x'", "claims.toml:10: invalid type"),
            ("data = 'trained'\nat_least = 3", "; did you mean `training`?"),
            ("", "claims.toml:8: `time_us` of `p.q`: it has no bound"),
            ("at_least = 3", "claims.toml:8: `time_us` of `p.q`: a tolerance needs its reason, `because`"),
            ("equals = 3\nat_most = 4", "`equals` goes with no other bound"),
            ("within = -1\nbecause = 'x'", "`within` is -1"),
            ("above = 4\nbelow = 3", "nothing is more than 4 and less than 3"),
        ] {
            let error = condition(rest).unwrap_err();
            assert!(error.contains(says), "{says}\n{error}");
        }
    }

    #[test]
    fn a_claim_needs_a_condition_and_a_published_number_to_be_near_to() {
        let error = parsed("").unwrap_err();
        assert!(error.contains("claims.toml:2: `condition`: `p.q` has none"), "{error}");
        let near = "[[claim.condition]]\nquantity = 'time_s'\nwhat = 'time'\nwithin_percent = 3\nbecause = 'x'";
        let error = parsed(near).unwrap_err();
        assert!(error.contains("claims.toml:8") && error.contains("did you mean `time_us`?"), "{error}");
        let other = format!("{HEAD}[[claim.condition]]\nquantity = 'a'\nwhat = 'b'\nequals = 1\n");
        let error = Claims::parse("claims.toml", &other.repeat(2)).unwrap_err().to_string();
        assert!(error.contains("claims.toml:12: `id`: `p.q` is there twice"), "{error}");
    }

    /// Fitted parameters come with training data, and the reverse.
    #[test]
    fn fitted_parameters_and_training_data_go_together() {
        let training = condition("equals = 3\ndata = 'training'").unwrap_err();
        let fitted = HEAD.to_string() + "fitted = 'a cost'\n";
        let fitted = fitted + "[[claim.condition]]\nquantity = 'a'\nwhat = 'b'\nequals = 1\n";
        let without = Claims::parse("claims.toml", &fitted).unwrap_err().to_string();
        for error in [training, without] {
            assert!(error.contains("claims.toml:2: `fitted` of `p.q`"), "{error}");
        }
        assert!(Claims::parse("claims.toml", &(fitted + "data = 'training'")).is_ok());
    }
}
