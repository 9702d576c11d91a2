//! The requests of a program in Python to its machine: tuples whose first element is a [`Verb`].

use bytes::Bytes as Content;
use endpoint::{Message, Operation, Source, Tag, Tags};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator, PyMemoryView, PyString, PyTuple};
use quantities::{Bytes, Duration, ParseError, Rank, Time};

use crate::errors::{wrong_type, wrong_value};
use crate::members::Members;
use crate::pending::PendingOperation;

/// The kind of a request.
#[pyclass(frozen, module = "maquette._maquette")]
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    /// With the receiver, the tag, the data and the size.
    Send,
    /// With the sender, the tag, the deadline and the room for its message, each of which may be None.
    Receive,
    /// With the sender, the tag and the deadline, each of which may be None.
    Probe,
    /// With the duration.
    Compute,
    /// With the end time.
    SleepUntil,
    /// With the data and the size.
    Multicast,
    /// With the sender.
    ReceiveMulticast,
    /// With iterators of requests, all of which must end.
    Join,
    /// With iterators of requests, one of which must end.
    First,
    /// The same with iterators that ask for one operation each, and end with it.
    JoinOperations,
    /// The same, where one must end.
    FirstOperations,
    /// With the receiver, the tag, the data, the size, the sender, its tag and the room for its message.
    Sendrecv,
    /// With operations that go on, all of which must end.
    WaitAll,
    /// With operations that go on, one of which must end.
    WaitAny,
    /// With operations that go on, which are only asked whether they have ended.
    Test,
    /// With the name of a collective, its parameters in JSON, for each message a pair of data and size, or None, and
    /// the members of the group whose ranks take part, or None.
    Collective,
}

/// A parsed request of a program in Python.
pub enum ProgramRequest<'py> {
    /// An operation of its endpoint; if it receives, it may have room for only so much.
    Operation(Operation, Option<Bytes>),
    /// To wait for these.
    Await(Wait, Vec<Bound<'py, PyIterator>>),
    /// To wait for these, each of which asks for one operation.
    AwaitOperations(Wait, Vec<Bound<'py, PyIterator>>),
    /// To send and to receive at once.
    Sendrecv(Sendrecv),
    /// To wait for operations that go on, or to ask.
    Pending(Ask, Vec<Bound<'py, PendingOperation>>),
    /// To take part in a collective.
    Collective(Call<'py>),
}

/// What a coroutine that awaits several others waits for.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    /// That all of them end.
    Join,
    /// That one of them ends.
    First,
}

/// What is to be known of operations that go on.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    /// When all of them have ended.
    All,
    /// When one of them has ended.
    Any,
    /// Whether all of them have ended.
    Now,
}

/// A message that is sent, and another that is received at the same time.
pub struct Sendrecv {
    pub to: Rank,
    pub tag: Tag,
    pub message: Message,
    pub from: Rank,
    pub tags: Tags,
    /// The room for what is received.
    pub room: Option<Bytes>,
}

/// A rank's call of a collective.
pub struct Call<'py> {
    /// The group whose ranks take part; all ranks, if there is none.
    pub group: Option<Bound<'py, Members>>,
    pub name: String,
    /// Its parameters, in JSON.
    pub parameters: String,
    pub messages: Vec<Option<Message>>,
}

impl<'py> ProgramRequest<'py> {
    /// Parses what the program has yielded.
    ///
    /// # Errors
    /// `TypeError` if that is not a request, or a part of it has the wrong type; `ValueError` for a value that is not
    /// allowed.
    pub fn read(yielded: &Bound<'py, PyAny>) -> PyResult<ProgramRequest<'py>> {
        let request = yielded.cast_exact::<PyTuple>().map_err(|_| foreign(yielded))?;
        let verb = request.get_item(0).map_err(|_| foreign(yielded))?;
        let verb = verb.cast::<Verb>().map_err(|_| foreign(yielded))?.get();
        let part = |place: usize| request.get_item(place);
        let mut room = None;
        let operation = match verb {
            Verb::Send => Operation::Send {
                to: Rank(whole("to", &part(1)?)?),
                tag: tag(&part(2)?)?,
                message: message(&part(3)?, &part(4)?)?,
            },
            Verb::Receive => {
                room = if_given("size", &part(4)?, size)?;
                let (from, tags, deadline) = awaited_message([part(1)?, part(2)?, part(3)?])?;
                Operation::Receive { from, tags, deadline }
            }
            Verb::Probe => {
                let (from, tags, deadline) = awaited_message([part(1)?, part(2)?, part(3)?])?;
                Operation::Probe { from, tags, deadline }
            }
            Verb::Compute => Operation::Compute(duration("work", &part(1)?)?),
            Verb::SleepUntil => Operation::Sleep(time("time", &part(1)?)?),
            Verb::Multicast => Operation::Multicast(message(&part(1)?, &part(2)?)?),
            Verb::ReceiveMulticast => Operation::ReceiveMulticast(Rank(whole("source", &part(1)?)?)),
            Verb::Sendrecv => {
                return Ok(ProgramRequest::Sendrecv(Sendrecv {
                    to: Rank(whole("to", &part(1)?)?),
                    tag: tag(&part(2)?)?,
                    message: message(&part(3)?, &part(4)?)?,
                    from: Rank(whole("source", &part(5)?)?),
                    tags: if_given("source_tag", &part(6)?, |_, found| tag(found))?.map_or(Tags::Any, Tags::Only),
                    room: if_given("room", &part(7)?, size)?,
                }));
            }
            Verb::WaitAll => return pending(request).map(|all| ProgramRequest::Pending(Ask::All, all)),
            Verb::WaitAny => return pending(request).map(|all| ProgramRequest::Pending(Ask::Any, all)),
            Verb::Test => return pending(request).map(|all| ProgramRequest::Pending(Ask::Now, all)),
            Verb::Join => return all(request).map(|all| ProgramRequest::Await(Wait::Join, all)),
            Verb::First => return all(request).map(|all| ProgramRequest::Await(Wait::First, all)),
            Verb::JoinOperations => {
                return all(request).map(|all| ProgramRequest::AwaitOperations(Wait::Join, all));
            }
            Verb::FirstOperations => {
                return all(request).map(|all| ProgramRequest::AwaitOperations(Wait::First, all));
            }
            Verb::Collective => {
                let messages = part(3)?.try_iter()?.map(|pair| message_of_pair(&pair?)).collect::<PyResult<_>>()?;
                let (name, parameters) = (part(1)?.extract()?, part(2)?.extract()?);
                let group = part(4)?;
                let group = if group.is_none() { None } else { Some(group.cast_into()?) };
                return Ok(ProgramRequest::Collective(Call { group, name, parameters, messages }));
            }
        };
        Ok(ProgramRequest::Operation(operation, room))
    }
}

/// Which message a program waits for, and until when.
fn awaited_message([source, of_tag, until]: [Bound<'_, PyAny>; 3]) -> PyResult<(Source, Tags, Option<Time>)> {
    let from = if_given("source", &source, whole)?.map_or(Source::Any, |rank| Source::Rank(Rank(rank)));
    let tags = if_given("tag", &of_tag, |_, found| tag(found))?.map_or(Tags::Any, Tags::Only);
    Ok((from, tags, if_given("until", &until, time)?))
}

/// The error that what a program awaits is nothing that a machine carries out.
pub fn foreign(yielded: &Bound<'_, PyAny>) -> PyErr {
    wrong_type(
        "await",
        yielded,
        "the verbs of the rank's endpoint, maquette.join and maquette.first of these, collectives, and coroutines that await them; \
         nothing of asyncio or another event loop: the simulated machine resumes a rank",
    )
}

fn all<'py>(request: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyIterator>>> {
    request.iter().skip(1).map(|each| Ok(each.cast_into::<PyIterator>()?)).collect()
}

fn pending<'py>(request: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PendingOperation>>> {
    let read = |found: Bound<'py, PyAny>| {
        let wrong = || wrong_type("requests", &found, "what isend and irecv of an endpoint return");
        found.cast::<PendingOperation>().cloned().map_err(|_| wrong())
    };
    request.iter().skip(1).map(read).collect()
}

/// The object that was found, parsed by `read`, unless it is None.
pub fn if_given<T>(
    name: &str,
    found: &Bound<'_, PyAny>,
    read: impl Fn(&str, &Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    if found.is_none() { Ok(None) } else { read(name, found).map(Some) }
}

/// A tag that a program may choose.
fn tag(found: &Bound<'_, PyAny>) -> PyResult<Tag> {
    let allowed = || format!("a whole number from 0 to {}", Tag::LARGEST.0);
    let tag = found.extract().map(Tag).map_err(|error| misfit("tag", found, error, &allowed()))?;
    if tag <= Tag::LARGEST { Ok(tag) } else { Err(wrong_value("tag", found, &allowed())) }
}

/// A 32-bit integer.
pub fn whole(name: &str, found: &Bound<'_, PyAny>) -> PyResult<u32> {
    found.extract().map_err(|error| misfit(name, found, error, &format!("a whole number from 0 to {}", u32::MAX)))
}

/// A 64-bit integer.
pub fn large(name: &str, found: &Bound<'_, PyAny>) -> PyResult<u64> {
    found.extract().map_err(|error| misfit(name, found, error, &format!("a whole number from 0 to {}", u64::MAX)))
}

/// The error that an object has the wrong type, or a value that is not allowed.
fn misfit(name: &str, found: &Bound<'_, PyAny>, error: PyErr, allowed: &str) -> PyErr {
    let is_type = error.is_instance_of::<PyTypeError>(found.py());
    if is_type { wrong_type(name, found, allowed) } else { wrong_value(name, found, allowed) }
}

/// A quantity as a text with its unit, or an integer of what is `counted`.
fn quantity<T>(name: &str, found: &Bound<'_, PyAny>, of: fn(u64) -> T, counted: &str, example: &str) -> PyResult<T>
where
    T: std::str::FromStr<Err = ParseError>,
{
    if let Ok(text) = found.cast::<PyString>() {
        let wrong = |error: ParseError| PyValueError::new_err(format!("{name}: {error}; {}", error.hint()));
        return text.to_cow()?.parse().map_err(wrong);
    }
    let allowed = || format!("a text such as \"{example}\", or a whole number of {counted} that is not negative");
    found.extract().map(of).map_err(|error| misfit(name, found, error, &allowed()))
}

/// A length of time.
pub fn duration(name: &str, found: &Bound<'_, PyAny>) -> PyResult<Duration> {
    quantity(name, found, Duration::from_picoseconds, "picoseconds", "1.5 us")
}

fn time(name: &str, found: &Bound<'_, PyAny>) -> PyResult<Time> {
    quantity(name, found, Time::from_picoseconds, "picoseconds", "1.5 us")
}

/// A number of bytes.
pub fn size(name: &str, found: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    quantity(name, found, Bytes, "bytes", "4 KiB")
}

/// The message of a pair of data and size, if there is one.
fn message_of_pair(pair: &Bound<'_, PyAny>) -> PyResult<Option<Message>> {
    let none = pair.get_item(0)?.is_none() && pair.get_item(1)?.is_none();
    if none { Ok(None) } else { message(&pair.get_item(0)?, &pair.get_item(1)?).map(Some) }
}

/// A message with this data, of this size: one of them may be None. With both it begins with the data.
fn message(data: &Bound<'_, PyAny>, length: &Bound<'_, PyAny>) -> PyResult<Message> {
    let length = if_given("size", length, size)?;
    if data.is_none() || data.is_instance_of::<PyString>() {
        return match (if_given("data", data, size)?, length) {
            (Some(size), None) | (None, Some(size)) => Ok(Message::of_size(size)),
            (None, None) => Err(PyTypeError::new_err(
                "data: found neither data nor a size; allowed is a bytes-like object, or a size such as \"4 KiB\"",
            )),
            (Some(_), Some(_)) => {
                Err(PyTypeError::new_err("size: found a size beside another; allowed is one of them, or data"))
            }
        };
    }
    let content = content(data)?;
    match length {
        None => Ok(Message::from(content)),
        Some(length) if length.0 < content.len() as u64 => {
            let text = format!("size: found {length}; allowed is at least {}, the size of the data", content.len());
            Err(PyValueError::new_err(text))
        }
        Some(length) => Ok(Message::beginning_with(content, length)),
    }
}

/// The bytes of an object: those of `bytes` themselves, which are immutable, and a copy of all others.
fn content(data: &Bound<'_, PyAny>) -> PyResult<Content> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Content::from_owner(PyBackedBytes::from(bytes.clone())));
    }
    let allowed = "a bytes-like object, or a size such as \"4 KiB\"; a number of bytes is written size=...";
    let view = PyMemoryView::from(data).map_err(|_| wrong_type("data", data, allowed))?;
    let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    Ok(Content::from_owner(PyBackedBytes::from(bytes)))
}
