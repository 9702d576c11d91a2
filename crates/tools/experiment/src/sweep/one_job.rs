//! Axes of a single job: `job.NAME.bytes`, where a job without a name has its number, as in the results.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::set_parameter;
use crate::catalogue::descriptions;
use crate::{Error, Job};

/// What the name of such an axis begins with.
const PREFIX: &str = "job.";
/// What of a job can be swept, beside the parameters of its program.
const FIELDS: [&str; 3] = ["ranks", "placement", "start"];

/// Whether an axis of this name is one of a single job.
pub(super) fn is_named(axis: &str) -> bool {
    axis.starts_with(PREFIX)
}

/// Sets a field of a job.
///
/// # Errors
/// No such job, or field; a value that the field can't have.
pub(super) fn set(jobs: &mut [Job], axis: &str, value: &Value) -> Result<(), Error> {
    let names: Vec<String> = (1..).zip(&*jobs).map(|(number, job)| name_of(number, job)).collect();
    let rest = axis.strip_prefix(PREFIX).unwrap_or(axis);
    // A name may have dots.
    let fields = names.iter().map(|name| rest.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.')));
    let Some((job, field)) = jobs.iter_mut().zip(fields).find_map(|(job, field)| Some((job, field?))) else {
        return Err(unknown_job(axis, rest, &names));
    };
    match field {
        "ranks" => job.ranks = Some(read(axis, value)?),
        "placement" => job.placement = read(axis, value)?,
        "start" => job.start = Some(read(axis, value)?),
        parameter => {
            return set_parameter(std::slice::from_mut(job), parameter, value).map_err(|error| match error {
                Error::UnknownParameter { program, found, .. } => unknown_field(program, found),
                other => other,
            });
        }
    }
    Ok(())
}

/// The name of a job in results.
fn name_of(number: usize, job: &Job) -> String {
    job.name.clone().unwrap_or_else(|| number.to_string())
}

fn read<T: DeserializeOwned>(axis: &str, value: &Value) -> Result<T, Error> {
    let wrong = |error: serde_json::Error| Error::Value { parameter: axis.to_owned(), problem: error.to_string() };
    serde_json::from_value(value.clone()).map_err(wrong)
}

fn unknown_job(axis: &str, rest: &str, names: &[String]) -> Error {
    let found = rest.rsplit_once('.').map_or(rest, |(job, _)| job);
    let meant = quantities::nearest(found, names.iter().map(String::as_str));
    let meant = meant.map(|name| format!("; did you mean `{PREFIX}{name}`?")).unwrap_or_default();
    let problem =
        format!("found no job `{found}`; allowed is {PREFIX}NAME.FIELD with a job of {}{meant}", names.join(", "));
    Error::Value { parameter: axis.to_owned(), problem }
}

fn unknown_field(program: &'static str, found: String) -> Error {
    let described = descriptions().into_iter().filter(|it| it.name == program);
    let parameters = described.flat_map(|it| it.parameters).map(|parameter| parameter.name);
    Error::UnknownParameter { program, found, known: FIELDS.map(str::to_owned).into_iter().chain(parameters).collect() }
}
