//! A client of a pool of stores.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formats::input;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use quantities::{Bytes, shown_path};
use store::client::{Counts, Error, Options, Pool};
use store::resp::Value;
use store::tls::{CertifiedKey, Connector, Pem};

use crate::errors::{CommandRefused, NoAnswer, OutcomeUnknown};

/// What a signal handler has raised while the client waited.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// The longest file with certificates or a key that is read.
const LONGEST: Bytes = Bytes(4 << 20);

/// The files of CAs, and of the client's certificate with its key; and the name in the certificates, if it is not an
/// address.
type Tls = (PathBuf, Option<(PathBuf, PathBuf)>, Option<String>);

/// A client of a pool. Threads may share it: they take turns.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct StoreClient {
    /// None once it is closed.
    pool: Mutex<Option<Pool>>,
    raised: Raised,
}

#[pymethods]
impl StoreClient {
    #[new]
    fn new(
        py: Python<'_>,
        members: Vec<String>,
        password: Option<Vec<u8>>,
        timeout: f64,
        tls: Option<Tls>,
    ) -> PyResult<StoreClient> {
        let patience = Duration::try_from_secs_f64(timeout).ok().filter(|patience| !patience.is_zero());
        let patience = patience.ok_or_else(|| {
            PyValueError::new_err(format!("timeout: found {timeout}; allowed is a number of seconds above 0"))
        })?;
        let members = members.iter().map(|member| address(member)).collect::<PyResult<Vec<SocketAddr>>>()?;
        let options = Options { password, patience, tls: tls.map(connector).transpose()? };
        let raised = Raised::default();
        let should_continue = {
            let raised = Arc::clone(&raised);
            move || Python::attach(|py| py.check_signals()).map_err(|error| *held(&raised) = Some(error)).is_ok()
        };
        let opened = py.detach(|| Pool::open_while(&members, options, Some(Box::new(should_continue))));
        let pool = opened.map_err(|error| exception(error, &raised))?;
        Ok(StoreClient { pool: Mutex::new(Some(pool)), raised })
    }

    /// Sends commands together. Returns the reply to each, or the exception that says why there is none.
    fn execute<'py>(&self, py: Python<'py>, commands: Vec<Vec<PyBackedBytes>>) -> PyResult<Bound<'py, PyList>> {
        let answers = py.detach(|| {
            let mut pool = held(&self.pool);
            let mut pipeline = pool.as_mut()?.pipeline();
            for command in &commands {
                let words: Vec<&[u8]> = command.iter().map(|word| &**word).collect();
                pipeline.ask(&words);
            }
            Some(pipeline.execute())
        });
        let answers = answers.ok_or_else(closed)?.map_err(|error| exception(error, &self.raised))?;
        let objects = answers.into_iter().map(|answer| match answer {
            Ok(value) => object(py, value),
            Err(error) => Ok(exception(error, &self.raised).into_value(py).into_bound(py).into_any()),
        });
        PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
    }

    /// How often requests were sent, MOVED was received, the image was adjusted, requests had to wait, all slots were
    /// asked for, and connections were opened.
    fn counts(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64, u64, u64)> {
        let counts = py.detach(|| held(&self.pool).as_ref().map(Pool::counts));
        let Counts { sent, moved, adjustments, delays, maps, connections } = counts.ok_or_else(closed)?;
        Ok((sent, moved, adjustments, delays, maps, connections))
    }

    /// Closes all connections.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *held(&self.pool) = None);
    }
}

/// The contents of a mutex, which are usable even after a panic.
fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> PyErr {
    PyValueError::new_err("the client is closed")
}

fn address(member: &str) -> PyResult<SocketAddr> {
    let addresses = member.to_socket_addrs().ok();
    addresses.and_then(|mut addresses| addresses.next()).ok_or_else(|| {
        let found = quantities::shown(member);
        PyValueError::new_err(format!("member: found {found}; allowed is HOST:PORT with an address or a host name"))
    })
}

/// The TLS connector of a client.
fn connector((authorities, own, name): Tls) -> PyResult<Connector> {
    let own =
        own.map(|(certificate, key)| Ok::<_, PyErr>(CertifiedKey { certificate: pem(certificate)?, key: pem(key)? }));
    Connector::new(&pem(authorities)?, own.transpose()?.as_ref(), name.as_deref())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn pem(path: PathBuf) -> PyResult<Pem> {
    match input::read(&path, LONGEST) {
        Ok(bytes) => Ok(Pem { path, bytes }),
        Err(cause) => Err(PyOSError::new_err(format!("cannot read `{}`: {cause}", shown_path(&path)))),
    }
}

fn object(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Text(text) => PyBytes::new(py, &text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Error(message) => CommandRefused::new_err(message).into_value(py).into_bound(py).into_any(),
        Value::List(values) => {
            let values = values.into_iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
    })
}

/// Why there is no reply, as an exception.
fn exception(error: Error, raised: &Raised) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Refused { .. } => CommandRefused::new_err(text),
        Error::Lost { .. } => OutcomeUnknown::new_err(text),
        Error::OfOneConnection(_) | Error::Empty => PyValueError::new_err(text),
        Error::Interrupted => held(raised).take().unwrap_or_else(|| NoAnswer::new_err(text)),
        Error::Unreachable { .. }
        | Error::Broken { .. }
        | Error::Silent { .. }
        | Error::Late { .. }
        | Error::SentOn { .. }
        | Error::Wait(_) => NoAnswer::new_err(text),
    }
}
