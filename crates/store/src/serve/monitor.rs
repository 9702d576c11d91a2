//! What has changed since the last tick, as events for the log.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::log::Event;
use crate::node::{Counts, Settings};
use crate::pages::ServerLine;
use crate::record::Milliseconds;

/// After this time the log says why a member is not admitted. [ms]
const TIME_TO_BE_ADMITTED: Milliseconds = 2_000;

/// The state at the last tick.
#[derive(Debug, Default)]
pub struct Monitor {
    counts: Counts,
    dropped: u64,
    /// The servers with their levels.
    servers: BTreeMap<u32, u32>,
    /// When it began to ask members to admit it; none if it need not or was admitted.
    asks_since: Option<Milliseconds>,
    /// The reasons logged so far, by the member that has not admit it.
    logged: BTreeMap<SocketAddr, String>,
    /// At how many ticks in a row a split has waited for members.
    waited: u32,
}

impl Monitor {
    /// Begins to watch a member that has these servers and may still have to be admitted.
    pub fn new(servers: &[ServerLine], is_welcome: bool, now: Milliseconds) -> Monitor {
        let servers = servers.iter().map(|server| (server.server, server.level)).collect();
        Monitor { servers, asks_since: (!is_welcome).then_some(now), ..Monitor::default() }
    }

    /// Events of its servers.
    pub fn servers(&mut self, servers: &[ServerLine]) -> Vec<Event> {
        let mut events = Vec::new();
        let before = std::mem::take(&mut self.servers);
        for &ServerLine { server, level, records, .. } in servers {
            match before.get(&server) {
                None => events.push(Event::ServerOpened { server, level }),
                Some(&was) if was < level => events.push(Event::ServerSplit { server, level, records }),
                Some(&was) if was > level => events.push(Event::ServerMerged { server, level, records }),
                Some(_) => {}
            }
            self.servers.insert(server, level);
        }
        let ended = before.into_keys().filter(|server| !self.servers.contains_key(server));
        events.extend(ended.map(|server| Event::ServerEnded { server }));
        events
    }

    /// Events of refusals and of dropped messages.
    pub fn counts(&mut self, counts: Counts, dropped: u64, settings: &Settings) -> Vec<Event> {
        let before = std::mem::replace(&mut self.counts, counts);
        // Clients may reset the counts to 0.
        let clients = counts.rejected.saturating_sub(before.rejected);
        let attempts = counts.wrong_passwords.saturating_sub(before.wrong_passwords);
        let requests = counts.out_of_memory.saturating_sub(before.out_of_memory);
        let messages = dropped.saturating_sub(std::mem::replace(&mut self.dropped, dropped));
        let events = [
            (clients, Event::ClientsTurnedAway { clients, most: settings.most_clients }),
            (attempts, Event::WrongPasswords { attempts }),
            (requests, Event::OutOfMemory { requests, most: settings.most_memory.unwrap_or(0) }),
            (messages, Event::MessagesDropped { messages }),
        ];
        events.into_iter().filter(|(count, _)| *count > 0).map(|(_, event)| event).collect()
    }

    /// A split waits for members that are not connected. That is reported once, and not at the first tick, when others
    /// may just be on their way.
    pub fn splitting(&mut self, waits: bool, away: impl Iterator<Item = SocketAddr>) -> Option<Event> {
        self.waited = if waits { self.waited.saturating_add(1) } else { 0 };
        (self.waited == 2).then(|| Event::SplitWaits { away: away.collect() })
    }

    /// Whether it was admitted; and if not for long, why not, again whenever the reason changes.
    pub fn joining<'a>(
        &mut self,
        now: Milliseconds,
        members: Option<usize>,
        asked: impl Iterator<Item = (SocketAddr, Option<&'a str>)>,
    ) -> Vec<Event> {
        let Some(since) = self.asks_since else { return Vec::new() };
        if let Some(members) = members {
            self.asks_since = None;
            return vec![Event::Admitted { members }];
        }
        if now.saturating_sub(since) < TIME_TO_BE_ADMITTED {
            return Vec::new();
        }
        let mut events = Vec::new();
        for (by, why) in asked {
            let why = why.unwrap_or("it has not been admitted itself yet");
            if self.logged.get(&by).is_none_or(|logged| logged != why) {
                self.logged.insert(by, why.to_owned());
                events.push(Event::NotAdmitted { by, why: why.to_owned() });
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(server: u32, level: u32) -> ServerLine {
        ServerLine { server, level, records: 10, ..ServerLine::default() }
    }

    #[test]
    fn changes_of_servers_are_reported_once() {
        let mut monitor = Monitor::new(&[server(0, 0)], true, 0);
        assert!(monitor.servers(&[server(0, 0)]).is_empty());
        let split = monitor.servers(&[server(0, 1), server(1, 1)]);
        let expected =
            [Event::ServerSplit { server: 0, level: 1, records: 10 }, Event::ServerOpened { server: 1, level: 1 }];
        assert_eq!(split, expected);
        let merged = monitor.servers(&[server(0, 0)]);
        assert_eq!(
            merged,
            [Event::ServerMerged { server: 0, level: 0, records: 10 }, Event::ServerEnded { server: 1 }]
        );
        assert!(monitor.servers(&[server(0, 0)]).is_empty());
    }

    #[test]
    fn the_reason_for_not_being_admitted_is_reported_after_two_seconds_and_when_it_changes() {
        let by = SocketAddr::from(([127, 0, 0, 1], 17_001));
        let mut monitor = Monitor::new(&[], false, 1_000);
        let mut at = |now, members, why| monitor.joining(now, members, [(by, why)].into_iter());
        let reported = |why: &str| [Event::NotAdmitted { by, why: why.to_owned() }];
        assert!(at(2_999, None, Some("connection refused")).is_empty());
        assert_eq!(at(3_000, None, Some("connection refused")), reported("connection refused"));
        assert!(at(4_000, None, Some("connection refused")).is_empty());
        assert_eq!(at(5_000, None, None), reported("it has not been admitted itself yet"));
        assert_eq!(at(6_000, Some(3), None), [Event::Admitted { members: 3 }]);
        assert!(at(7_000, Some(3), None).is_empty());
    }

    #[test]
    fn a_split_that_waits_is_reported_once_unless_it_goes_on_at_once() {
        let (mut monitor, away) = (Monitor::default(), SocketAddr::from(([127, 0, 0, 1], 17_002)));
        let ticks = [true, false, true, true, true, false, true, true];
        let reported = ticks.map(|waits| monitor.splitting(waits, [away].into_iter()).is_some());
        assert_eq!(reported, [false, false, false, true, false, false, false, true]);
    }

    #[test]
    fn counts_that_were_reset_are_not_reported() {
        let (mut monitor, settings) = (Monitor::default(), Settings::default());
        let refused = |out_of_memory| Counts { out_of_memory, ..Counts::default() };
        assert_eq!(monitor.counts(refused(5), 0, &settings), [Event::OutOfMemory { requests: 5, most: 0 }]);
        assert!(monitor.counts(refused(0), 0, &settings).is_empty());
        assert_eq!(monitor.counts(refused(0), 7, &settings), [Event::MessagesDropped { messages: 7 }]);
    }
}
