//! How a run begins.

use std::borrow::Cow;
use std::rc::Rc;

use super::batch::OfMember;
use super::{Journal, JournalEntry, Run};
use crate::host::Host;
use crate::member::{Peer, Policy};

/// Begins a run of a host's member, after the last run that is known: what it does is written to the journal from now
/// on. A new member founds a pool, or has yet to be admitted; any other keeps its identity and role, whatever `own`
/// says.
pub fn start(host: &mut Host, journal: &Journal, last: Option<&Run>, own: Peer, policy: Policy, founds: bool) {
    let before = last.map_or(&own, |run| &run.own);
    let (number, identity, role) = (last.map_or(0, |run| run.number), before.identity, before.role);
    let own = Peer { identity, role, ..own };
    let run = Run { number: number + 1, own, growth: policy.growth, servers_each: policy.servers_each };
    let member = host.member_mut();
    member.begin_run(run.number, run.own.clone(), policy);
    journal.borrow_mut().write(&JournalEntry::Run(Cow::Borrowed(&run)));
    if last.is_none() && founds {
        member.found();
        journal.borrow_mut().write(&JournalEntry::Founds);
    }
    member.record_with(Box::new(OfMember(Rc::clone(journal))));
    host.with_member(|member, _, outputs| member.is_back(outputs));
}
