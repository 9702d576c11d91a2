//! A message that a program in Python has received.

use endpoint::Message;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A message: its source, its tag, and its data or just its size. [B]
#[pyclass(frozen, module = "maquette")]
pub struct Received {
    #[pyo3(get)]
    source: u32,
    #[pyo3(get)]
    tag: u32,
    message: Message,
}

impl From<endpoint::Received> for Received {
    fn from(received: endpoint::Received) -> Received {
        let endpoint::Received { from, tag, message } = received;
        Received { source: from.0, tag: tag.0, message }
    }
}

#[pymethods]
impl Received {
    #[getter]
    fn size(&self) -> u64 {
        self.message.size().0
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.message.content().map(|content| PyBytes::new(py, content))
    }

    fn __repr__(&self) -> String {
        let Received { source, tag, message } = self;
        format!("<maquette.Received {} from rank {source}, tag {tag}>", message.size())
    }
}
