//! Collectives that a program in Python awaits, among all its ranks or those of a group.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use collectives::agreement::{Agreement, Unfinished};
use collectives::{Collective, Group, Subgroup};
use endpoint::{Endpoint, Message, Tag};
use experiment::catalogue::Awaited;
use experiment::{MachineChoice, Site};
use machines::model::Machine as Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{of_experiment, of_program};
use crate::request::Call;

/// The collectives of a run, each created once.
pub struct Collectives<'run> {
    /// The machine and the choice that named it; none where real ranks run.
    machine: Option<(&'run Model, &'run MachineChoice)>,
    seed: u64,
    /// Whether all ranks of the run are in this process, so that what they call can be compared.
    has_all_ranks: bool,
    /// The number of the run, by which groups know whether they are of it.
    run: u32,
    /// Those among all ranks.
    all: OnceCell<Among>,
    /// Those of groups, in the order in which they were first seen, and their numbers.
    groups: RefCell<Vec<Rc<Among>>>,
    numbers: RefCell<BTreeMap<Vec<u32>, u32>>,
}

/// The collectives among some ranks.
struct Among {
    /// The ranks in order; none, if they are all in the usual order.
    group: Option<Group>,
    ranks: u32,
    made: RefCell<BTreeMap<(String, String), Rc<Awaited>>>,
    /// What the ranks have called, where all of them are here.
    agreement: RefCell<Agreement>,
}

/// Runs of this process so far.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// The most groups of which each can have a tag of its own.
const MOST_GROUPS: usize = 1 << 16;

impl Collectives<'static> {
    /// An empty set for real ranks, without a model of a machine.
    pub fn for_real(seed: u64) -> Collectives<'static> {
        Collectives::new(None, seed)
    }

    /// The same where the other ranks are in processes of their own.
    pub fn for_one_rank(seed: u64) -> Collectives<'static> {
        Collectives { has_all_ranks: false, ..Collectives::for_real(seed) }
    }
}

impl<'run> Collectives<'run> {
    /// An empty set, for a machine and the choice that named it.
    pub fn on(machine: &'run Model, choice: &'run MachineChoice, seed: u64) -> Collectives<'run> {
        Collectives::new(Some((machine, choice)), seed)
    }

    fn new(machine: Option<(&'run Model, &'run MachineChoice)>, seed: u64) -> Collectives<'run> {
        let run = RUNS.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let (all, groups, numbers) = (OnceCell::new(), RefCell::default(), RefCell::default());
        Collectives { machine, seed, has_all_ranks: true, run, all, groups, numbers }
    }

    /// Takes part in a collective as a rank; returns the data that the rank ends with, or a list with the data from
    /// each rank.
    pub async fn call<'py, E: Endpoint>(
        &self,
        endpoint: &E,
        call: Call<'py>,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(members) = &call.group else {
            let size = endpoint.size();
            let all = self.all.get_or_init(|| Among::new(None, size, Agreement::new(size)));
            return self.call_among(all, endpoint, call, py).await;
        };
        let number = members.get().number(self.run, |ranks| self.number(ranks, || members.get().group()))?;
        let among = self.groups.borrow().get(number as usize).map(Rc::clone);
        let among = among.ok_or_else(|| PyValueError::new_err("found a group of another run"))?;
        let group = among.group.as_ref().ok_or_else(|| PyValueError::new_err("found a group of all ranks"))?;
        // In one process groups are numbered, and else a digest is compared.
        let tag = self.has_all_ranks.then(|| Tag::of_collective(number as u16));
        let subgroup = Subgroup::new(endpoint, group, tag).map_err(|error| of_program(&error))?;
        self.call_among(&among, &subgroup, call, py).await
    }

    /// Takes part as a rank of `endpoint`, whose ranks are the places in the group.
    async fn call_among<'py, E: Endpoint>(
        &self,
        among: &Among,
        endpoint: &E,
        call: Call<'py>,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A rank has a message for each other, and ends with one from each.
        let is_list = Collective::named(&call.name).is_some_and(|collective| collective.shape().is_exchange());
        let site = self.site(among.ranks);
        let collective = among.made((call.name, call.parameters), &site)?;
        if self.has_all_ranks {
            let agreed = collective.agree(&mut among.agreement.borrow_mut(), endpoint.rank(), &call.messages);
            agreed.map_err(|error| of_program(&error))?;
        }
        let ended = collective.run(endpoint, &site, call.messages, !self.has_all_ranks).await;
        let ended = ended.map_err(|error| of_program(&error))?;
        let mut data = ended.into_iter().map(|message| message.and_then(|message| data_of(&message, py)));
        if is_list {
            return Ok(PyList::new(py, data.collect::<Vec<_>>())?.into_any());
        }
        Ok(data.next().flatten().map_or_else(|| py.None().into_bound(py), Bound::into_any))
    }

    /// The number of the group of these ranks: a new one, where none has them in this order.
    fn number(&self, ranks: &[u32], group: impl FnOnce() -> endpoint::Result<Group>) -> PyResult<u32> {
        if let Some(number) = self.numbers.borrow().get(ranks) {
            return Ok(*number);
        }
        let mut groups = self.groups.borrow_mut();
        if groups.len() == MOST_GROUPS {
            let text = format!("found one group more than {MOST_GROUPS}; allowed are so many in a run");
            return Err(PyValueError::new_err(text));
        }
        let number = groups.len() as u32;
        let group = group().map_err(|error| of_program(&error))?;
        let agreement = Agreement::among(&group);
        groups.push(Rc::new(Among::new(Some(group), ranks.len() as u32, agreement)));
        self.numbers.borrow_mut().insert(ranks.to_vec(), number);
        Ok(number)
    }

    fn site(&self, ranks: u32) -> Site<'run> {
        let Some((machine, choice)) = self.machine else { return Site::for_real(ranks, self.seed) };
        let mut site = Site::on(machine, self.seed);
        site.requested_ranks = Some(ranks);
        site.postal = choice.postal.map(|model| (model.lambda, model.step()));
        site
    }

    /// The first collective that some ranks have called and others have not.
    pub fn unfinished(&self) -> Option<Unfinished> {
        let groups = self.groups.borrow();
        let all = self.all.get().into_iter().chain(groups.iter().map(|among| &**among));
        all.filter_map(|among| among.agreement.borrow().unfinished()).next()
    }
}

impl Among {
    fn new(group: Option<Group>, ranks: u32, agreement: Agreement) -> Among {
        Among { group, ranks, made: RefCell::default(), agreement: RefCell::new(agreement) }
    }

    fn made(&self, key: (String, String), site: &Site<'_>) -> PyResult<Rc<Awaited>> {
        if let Some(made) = self.made.borrow().get(&key) {
            return Ok(Rc::clone(made));
        }
        let parameters = serde_json::from_str(&key.1).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let made = Awaited::named(&key.0, parameters, site).map_err(|error| of_experiment(&error))?;
        let made = match &self.group {
            Some(group) => made.of_group(group),
            None => made,
        };
        let made = Rc::new(made);
        self.made.borrow_mut().insert(key, Rc::clone(&made));
        Ok(made)
    }
}

fn data_of<'py>(message: &Message, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
    message.content().map(|content| PyBytes::new(py, content))
}
