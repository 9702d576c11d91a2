//! What the operator sees of a member: the log and the pages.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use super::clients::Disconnection;
use super::clock::instant;
use super::http::HttpConnections;
use super::listeners::ListenerKind;
use super::monitor::Monitor;
use super::outbox::Outgoing;
use super::peer_message::{PeerMessage, PeerStates};
use super::persistence::Persistence;
use super::{Error, Server, TIME_TO_SAY_SO, Tls};
use crate::log::{Event, Log};
use crate::member::Identity;
use crate::pages::{Assets, MemberState, PageRequest, Readings, Response, Route, Status, Turns, metrics, route};
use crate::record::Milliseconds;
use crate::tls::Acceptor;

/// A turn that takes longer is logged.
const SLOW: Duration = Duration::from_millis(100);

/// The TLS settings for clients and for members, if they were read again; or why they could not be.
pub type ReloadCertificates = Box<dyn FnMut() -> Option<Result<(Option<Acceptor>, Option<Tls>), String>>>;

/// What the operator sees of a node.
#[derive(Default)]
pub(super) struct Observability {
    /// The sockets of browsers and of Prometheus.
    pub http: HttpConnections,
    assets: Option<Assets>,
    /// The states of other members.
    pub peer_states: PeerStates,
    turns: Turns,
    pub monitor: Monitor,
    log: Option<Log>,
}

impl Server {
    /// Logs events from now on.
    pub fn log_to(&mut self, log: Log) {
        self.observability.log = Some(log);
    }

    /// Serves the pages at these addresses. To be called before it serves clients.
    ///
    /// # Errors
    /// [`Error::Listen`]
    pub fn serve_pages(&mut self, addresses: &[SocketAddr], assets: Assets) -> Result<(), Error> {
        for &address in addresses {
            self.listeners.listen(address, ListenerKind::Http)?;
        }
        self.observability.assets = Some(assets);
        Ok(())
    }

    /// The addresses of the pages.
    pub fn page_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.addresses(ListenerKind::Http)
    }

    /// Service begins.
    pub(super) fn begin(&mut self) {
        let now = self.host.node().borrow().now;
        self.observability.monitor =
            Monitor::new(&MemberState::of(&self.host).servers, self.host.member().membership().is_welcome(), now);
        let own = self.own().clone();
        self.report(&Event::Listening {
            clients: self.addresses(),
            members: own.address,
            slots: own.clients,
            http: self.page_addresses(),
            tls: self.listeners.acceptor.is_some(),
            tls_for_members: self.configuration.pool.tls.is_some(),
        });
    }

    /// Whether it left its pool so long ago that clients waiting for that have been message.
    pub(super) fn has_left_for_long(&mut self) -> bool {
        let is_in_group = self
            .persistence
            .as_ref()
            .and_then(|persistence| persistence.group.as_ref())
            .is_some_and(|group| !group.has_left());
        // The last messages, which say that it has left, may still wait for the disk.
        let waits_for_disk = self.persistence.as_ref().is_some_and(Persistence::waits_for_disk);
        if !self.host.member().membership().has_left() || is_in_group || waits_for_disk {
            return false;
        }
        let now = self.host.node().borrow().now;
        if self.timers.left.is_none() {
            self.timers.left = Some(now);
            let servers = self.host.member().membership().departure().map_or(0, |departure| departure.moved.len());
            self.report(&Event::Left { servers });
        }
        self.timers.left.is_some_and(|left| now.saturating_sub(left) >= TIME_TO_SAY_SO || now < left)
    }

    /// Whether it has ended because it left its pool, and not because it was told to end.
    pub const fn has_left(&self) -> bool {
        self.timers.left.is_some()
    }

    /// Service ends.
    pub(super) fn end_of_service(&mut self) {
        self.clients.sockets.values_mut().for_each(|socket| socket.stream.close());
        let node = self.host.node().borrow();
        let (requests, seconds) = (node.counts.commands, node.now.saturating_sub(node.since) / 1000);
        drop(node);
        self.report(&Event::Ending { requests, seconds });
    }

    pub(super) fn report(&mut self, event: &Event) {
        let now = self.host.node().borrow().now;
        if let Some(log) = &mut self.observability.log {
            log.write(now, event);
        }
    }

    /// A turn of the loop is over, in which clients had to wait for each other.
    pub(super) fn end_turn(&mut self, begun: Instant) {
        let took = instant().duration_since(begun);
        self.observability.turns.add(took);
        if took < SLOW {
            return;
        }
        let node = self.host.node().borrow();
        let asked = node.clients.values().filter(|client| client.last.get() == node.now);
        let commands: BTreeSet<&'static str> = asked.map(|client| client.command.get()).collect();
        drop(node);
        let (milliseconds, commands) = (took.as_millis() as u64, commands.into_iter().collect());
        self.report(&Event::Slow { milliseconds, commands });
    }

    pub(super) fn report_events(&mut self, now: Milliseconds) {
        let servers = MemberState::of(&self.host).servers;
        let mut events = self.observability.monitor.servers(&servers);
        let node = self.host.node().borrow();
        events.extend(self.observability.monitor.counts(node.counts, self.links.sockets.dropped(), &node.settings));
        drop(node);
        let member = self.host.member();
        let members = member.membership().is_welcome().then(|| 1 + member.membership().peers().count());
        let asked = self.configuration.pool.join.iter().map(|&address| (address, self.links.sockets.failure(address)));
        events.extend(self.observability.monitor.joining(now, members, asked));
        let away = member.membership().hosts_away().map(|host| host.address);
        events.extend(self.observability.monitor.splitting(member.waits_for_hosts(), away));
        events.iter().for_each(|event| self.report(event));
    }

    /// Sends a message to another member.
    pub(super) fn send_to_member(&mut self, to: Identity, message: &PeerMessage, may_be_lost: bool) {
        // Every message can be encoded.
        if let Ok(bytes) = postcard::to_stdvec(message) {
            self.links.sockets.send(to, Outgoing::new(bytes.into(), may_be_lost));
        }
    }

    pub(super) fn send_state(&mut self, to: Identity) {
        let state = MemberState::of(&self.host);
        self.send_to_member(to, &PeerMessage::State(Box::new(state)), true);
    }

    /// Speaks TLS with clients, with those that follow slots, and on the pages. To be called before it serves.
    pub fn speak_tls(&mut self, acceptor: Acceptor) {
        self.listeners.acceptor = Some(acceptor);
    }

    /// Calls this now and then for certificates and keys that were read again: new connections use them from then on.
    pub fn reload_certificates_by(&mut self, reload: ReloadCertificates) {
        self.configuration.reload = Some(reload);
    }

    pub(super) fn check_certificates(&mut self) {
        match self.configuration.reload.as_mut().and_then(|reload| reload()) {
            None => {}
            Some(Ok((acceptor, with_members))) => {
                self.listeners.acceptor = acceptor;
                self.links.sockets.speak_tls(with_members.clone());
                self.configuration.pool.tls = with_members;
                self.report(&Event::CertificatesRead);
            }
            Some(Err(why)) => self.report(&Event::CertificatesRefused { why }),
        }
    }

    /// A TLS handshake with a client has failed.
    pub(super) fn tls_failed(&mut self, client: String, why: String) {
        self.host.node().borrow_mut().counts.tls_failures += 1;
        self.report(&Event::TlsFailed { client, why });
    }

    /// Has clients disconnected that others have killed, once they have read what they were sent.
    pub(super) fn disconnect_killed(&mut self) {
        if !std::mem::take(&mut self.host.node().borrow_mut().has_killed) {
            return;
        }
        let killed = self.clients.tokens(|socket| socket.connection.session.client.is_killed.get());
        killed.into_iter().for_each(|token| self.clients.mark(token, false));
    }

    /// Disconnects a client that has run out of time, or has to go.
    pub(super) fn end_as_overdue(&mut self, token: usize) {
        if self.clients.sockets.get(&token).is_some_and(|socket| socket.stream.is_opening()) {
            self.tls_failed(self.clients.address(token), "the handshake took too long".to_owned());
        }
        self.end(token);
    }

    /// Takes a browser's turn, if the token is one's.
    pub(super) fn serve_http(&mut self, token: usize) {
        let mut http = std::mem::take(&mut self.observability.http);
        let disconnection = http.turn(token, |request, at| self.respond(request, at));
        self.observability.http = http;
        if let Some((address, Disconnection::NotUnderstood(why))) = disconnection {
            self.tls_failed(address.to_string(), why);
        }
    }

    fn respond(&mut self, request: &PageRequest, at: IpAddr) -> Response {
        let outcome = route(request, &self.host.node().borrow(), at);
        let route = match outcome {
            Ok(route) => route,
            Err(refusal) => {
                let is_wrong = refusal.status == Status::Unauthorized && request.authorization().is_some();
                self.host.node().borrow_mut().counts.wrong_passwords += u64::from(is_wrong);
                return refusal;
            }
        };
        let member = self.host.member();
        match (route, &self.observability.assets) {
            (Route::Page, Some(assets)) => Response::ok("text/html; charset=utf-8", assets.page.clone()),
            (Route::Script, Some(assets)) => Response::ok("text/javascript; charset=utf-8", assets.script),
            (Route::Page | Route::Script, None) => Response::refusal(Status::NotFound),
            (Route::Health, _) if member.membership().is_welcome() => Response::ok("text/plain; charset=utf-8", "ok\n"),
            (Route::Health, _) => Response::refusal(Status::Unavailable),
            (Route::Metrics, _) => {
                let readings = Readings {
                    members: 1 + member.membership().peers().count(),
                    is_welcome: member.membership().is_welcome(),
                    adjustments: member.adjustments(),
                    turns: &self.observability.turns,
                    dropped: self.links.sockets.dropped(),
                    waiting: self.links.sockets.waiting(),
                };
                let text = metrics(&MemberState::of(&self.host), &self.host.node().borrow(), &readings);
                Response::ok("text/plain; version=0.0.4; charset=utf-8", text)
            }
            (Route::State, _) => {
                let now = self.host.node().borrow().now;
                if self.observability.peer_states.are_due(now) {
                    let others: Vec<Identity> = member.membership().peers().map(|peer| peer.identity).collect();
                    others.into_iter().for_each(|other| self.send_to_member(other, &PeerMessage::Ask, true));
                }
                // It holds only numbers, texts and addresses, so this can't fail.
                let json =
                    serde_json::to_string(&self.observability.peer_states.view(&self.host, now)).unwrap_or_default();
                Response::ok("application/json", json)
            }
        }
    }
}
