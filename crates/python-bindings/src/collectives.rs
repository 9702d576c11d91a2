//! Collectives that a program in Python awaits.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use endpoint::{Endpoint, Message};
use experiment::catalogue::Awaited;
use experiment::{MachineChoice, Site};
use machines::model::Machine as Model;
use programs::agreement::Agreement;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{of_experiment, of_program};
use crate::request::Call;

/// The collectives of a run, each created once.
pub struct Collectives<'run> {
    machine: &'run Model,
    choice: &'run MachineChoice,
    seed: u64,
    is_real: bool,
    /// Whether all ranks of the run are in this process, so that what they call can be compared.
    has_all_ranks: bool,
    site: OnceCell<Site>,
    made: RefCell<BTreeMap<(String, String), Rc<Awaited>>>,
    /// What the ranks have called, where all of them are here.
    agreement: OnceCell<RefCell<Agreement>>,
}

impl<'run> Collectives<'run> {
    /// An empty set, for a machine and the choice that named it.
    pub fn new(machine: &'run Model, choice: &'run MachineChoice, seed: u64) -> Collectives<'run> {
        let (site, made, agreement) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        Collectives { machine, choice, seed, is_real: false, has_all_ranks: true, site, made, agreement }
    }

    /// The same for real ranks, without a model of a machine.
    pub fn for_real(self) -> Collectives<'run> {
        Collectives { is_real: true, ..self }
    }

    /// The same where the other ranks are in processes of their own.
    pub fn for_one_rank(self) -> Collectives<'run> {
        Collectives { has_all_ranks: false, ..self.for_real() }
    }

    /// Takes part in a collective as a rank; returns the data that the rank ends with, or a list with the data from each rank.
    pub async fn call<'py, E: Endpoint>(
        &self,
        endpoint: &E,
        call: Call,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let site = self.site.get_or_init(|| self.new_site(endpoint.size()));
        let is_list = call.name == "all-to-all";
        let collective = self.made((call.name, call.parameters), site)?;
        if self.has_all_ranks {
            let agreement = self.agreement.get_or_init(|| RefCell::new(Agreement::new(endpoint.size())));
            let agreed = collective.agree(&mut agreement.borrow_mut(), endpoint.rank(), &call.messages);
            agreed.map_err(|error| of_program(&error))?;
        }
        let ended = collective.run(endpoint, site, call.messages, !self.has_all_ranks).await;
        let ended = ended.map_err(|error| of_program(&error))?;
        let mut data = ended.into_iter().map(|message| message.and_then(|message| data_of(&message, py)));
        if is_list {
            return Ok(PyList::new(py, data.collect::<Vec<_>>())?.into_any());
        }
        Ok(data.next().flatten().map_or_else(|| py.None().into_bound(py), Bound::into_any))
    }

    fn new_site(&self, ranks: u32) -> Site {
        let postal = self.choice.postal.map(|model| (model.lambda, model.step()));
        let machine = self.machine.clone();
        Site { machine, requested_ranks: Some(ranks), seed: self.seed, is_real: self.is_real, postal }
    }

    fn made(&self, key: (String, String), site: &Site) -> PyResult<Rc<Awaited>> {
        if let Some(made) = self.made.borrow().get(&key) {
            return Ok(Rc::clone(made));
        }
        let parameters = serde_json::from_str(&key.1).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let made = Awaited::named(&key.0, parameters, site).map_err(|error| of_experiment(&error))?;
        let made = Rc::new(made);
        self.made.borrow_mut().insert(key, Rc::clone(&made));
        Ok(made)
    }
}

fn data_of<'py>(message: &Message, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
    message.content().map(|content| PyBytes::new(py, content))
}
