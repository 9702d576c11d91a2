//! How a member handles requests and messages.

use std::cmp::Reverse;

use linear_hash::{
    Contents, Extent, Image, OutputOf, Request, ScanAnswer, ScanKind, ScanRequest, Server, ServerOutput, Span,
    ToClient, ToClientOf, ToServer, ToServerOf,
};
use quantities::{Duration, Time};

use super::placement::parent;
use super::requests::{Sending, place_of};
use super::{Identity, Member, Message, Output, Sequenced, Ticket};

/// The most often that a part of a scan is passed on. One that was passed on in vain is asked for again after its
/// timeout.
const MOST_HOPS: u32 = 8;
/// The bound on rounds of messages within a member: what one message causes ends after far fewer.
const MOST_ROUNDS: usize = 100_000;
/// The most parts of scans of its own servers at a time: each has a chunk of entries, some ten microseconds' work.
const MOST_PARTS: usize = 8;

impl<C: Contents> Member<C> {
    /// Asks for an operation on the key with hash C, wherever it is.
    pub fn ask(&mut self, now: Time, c: u64, operation: C::Operation, outputs: &mut Vec<Output<C>>) -> Ticket {
        self.ask_patiently(now, c, operation, Duration::ZERO, outputs)
    }

    /// The same, for an operation that takes longer than others to reach its server: whenever it is sent again, that is
    /// so much later.
    pub fn ask_patiently(
        &mut self,
        now: Time,
        c: u64,
        operation: C::Operation,
        extra: Duration,
        outputs: &mut Vec<Output<C>>,
    ) -> Ticket {
        let (ticket, sending) = self.client.requests.ask(now, c, operation, extra, self.client.image);
        self.send_all(sending, outputs);
        self.settle(now, outputs);
        ticket
    }

    /// Asks for the entries of a span, from its first place on: as many as a server reads in one go.
    pub fn read(&mut self, now: Time, span: Span, outputs: &mut Vec<Output<C>>) -> Ticket {
        let (ticket, sending) = self.client.requests.read(now, span, self.client.image);
        self.send_all(sending, outputs);
        self.settle(now, outputs);
        ticket
    }

    /// Asks all servers for their entries, their numbers of entries, or only their levels.
    pub fn scan(&mut self, now: Time, kind: ScanKind, outputs: &mut Vec<Output<C>>) -> Ticket {
        self.scan_within(now, &[Span::ALL], kind, outputs)
    }

    /// The same for these spans alone, of which there is at least one and no two have a key in common.
    pub fn scan_within(&mut self, now: Time, spans: &[Span], kind: ScanKind, outputs: &mut Vec<Output<C>>) -> Ticket {
        let (ticket, sending) = self.client.requests.scan(now, spans, kind, self.client.image);
        self.send_all(sending, outputs);
        self.settle(now, outputs);
        ticket
    }

    /// A server of this member has answered an access without a request, by [`Member::holder`].
    pub fn has_answered(&mut self, now: Time, server: u32, requests: u64, stores: bool, outputs: &mut Vec<Output<C>>) {
        let (mut effects, mut pace) = (Vec::new(), None);
        if let Some(server) = self.hosted.servers.get_mut(&server) {
            server.has_answered(requests, stores, &mut effects);
            pace = Some(server.pace());
        }
        self.record_beginning(server, pace, &effects);
        self.pass_on(server, effects, outputs);
        self.settle(now, outputs);
    }

    /// Stops waiting for the request with a ticket. Whether it is executed is unknown.
    pub fn give_up(&mut self, ticket: Ticket) {
        self.client.requests.give_up(ticket);
    }

    /// Sends requests again that have gone unanswered for too long.
    pub fn wake(&mut self, now: Time, outputs: &mut Vec<Output<C>>) {
        let sending = self.client.requests.wake(now, self.client.image);
        self.send_all(sending, outputs);
        self.settle(now, outputs);
    }

    /// Checks whether the file should shrink even without requests; to be called now and then.
    pub fn tick(&mut self, now: Time, outputs: &mut Vec<Output<C>>) {
        self.adapt_to_who_is_away(outputs);
        self.of_each_server(outputs, Server::poll);
        self.announce_leaving_again(None, outputs);
        self.settle(now, outputs);
    }

    /// The most servers that the pool can have has changed.
    pub(super) fn reconsider(&mut self, outputs: &mut Vec<Output<C>>) {
        let growth = self.growth();
        self.of_each_server(outputs, |server, effects| server.grow_by(growth, effects));
    }

    pub(super) fn of_each_server(
        &mut self,
        outputs: &mut Vec<Output<C>>,
        mut does: impl FnMut(&mut Server<C>, &mut Vec<OutputOf<C>>),
    ) {
        let numbers: Vec<u32> = self.hosted.servers.keys().copied().collect();
        for number in numbers {
            let (mut effects, mut pace) = (Vec::new(), None);
            if let Some(server) = self.hosted.servers.get_mut(&number) {
                does(server, &mut effects);
                pace = Some(server.pace());
            }
            self.record_beginning(number, pace, &effects);
            self.pass_on(number, effects, outputs);
        }
    }

    /// Handles a message from another member.
    pub fn receive(&mut self, now: Time, from: Identity, message: Message<C>, outputs: &mut Vec<Output<C>>) {
        match message {
            Message::Join(new, settings) if new.identity == from => self.welcome(new, settings, outputs),
            Message::Join(..) => {}
            Message::Differs(settings) => self.membership.differing.push((from, settings)),
            Message::Welcome(there, placement, departures) => {
                self.be_welcomed(from, there, &placement, departures, outputs);
            }
            Message::Member(new) => self.learn_of(from, new, outputs),
            Message::Resize(asked) => self.receive_resizing(from, asked, outputs),
            Message::Request(server, request) => match self.hosted.servers.get_mut(&server) {
                Some(_) => self.request(server, request, outputs),
                None => self.bounce(from, server, request.client, request.number, outputs),
            },
            Message::Scan { server, request, hops } => self.scan_server(server, request, hops, outputs),
            Message::Forward { from: sender, to, request } => {
                self.receive_host(sender, from);
                self.deliver(from, sender, to, ToServer::Forward(request), outputs);
            }
            Message::Sequenced(sequenced) => self.take_sequenced(from, sequenced, outputs),
            Message::Acknowledged(number) => {
                if self.reliable.was_acknowledged(from, number) {
                    self.recorder.iter_mut().for_each(|recorder| recorder.is_acknowledged(from, number));
                    self.note_that_nothing_is_under_way(from, outputs);
                }
            }
            Message::ToClient { server, client, message } => {
                server.into_iter().for_each(|server| self.receive_host(server, from));
                self.client.messages.push_back((client, message));
            }
            Message::NotHere(server) => {
                // The host of a server's parent has opened the server and knows better: the message may be from before
                // that. Unless it has taken the server over since, and a reply that was on its way then has named the
                // former host again.
                let knows_better = self.hosted.servers.contains_key(&parent(server))
                    && self.locations.placement.host(server) == Some(from);
                if !knows_better {
                    self.locations.forget_hint(server, from);
                }
            }
            Message::Back(back, settings) => self.receive_returning(back, settings, outputs),
            Message::There(there, departures) => {
                departures.into_iter().for_each(|(who, departure)| self.receive_departure(who, departure, outputs));
                self.learn_of_all(from, there, outputs);
            }
            Message::Leaving(departure) => self.is_told_of_leaving(from, departure, outputs),
            Message::Noted(noted) => self.was_noted(from, noted, outputs),
        }
        self.settle(now, outputs);
        self.go_on_leaving(outputs);
        self.settle(now, outputs);
    }

    /// Takes a sequenced message, if it is the next one, and acknowledges the last that was taken.
    fn take_sequenced(&mut self, member: Identity, sequenced: Sequenced<C>, outputs: &mut Vec<Output<C>>) {
        let Sequenced { number, from, to, message, placement, origin, journaled } = sequenced;
        if self.reliable.receives(member, number) {
            let host = origin.unwrap_or(member);
            if from == to {
                placement.iter().for_each(|placement| self.learn_of_moving(to, message.get(), placement));
            } else {
                self.learn_host(from, host);
                self.receive_host(from, host);
                placement.iter().for_each(|placement| self.learn(placement));
            }
            self.record_taking((Some((member, number)), origin), from, to, Some((message.get(), journaled)));
            self.deliver(host, from, to, message.into_inner(), outputs);
        }
        outputs.push(Output::Send(member, Message::Acknowledged(self.reliable.received(member))));
    }

    /// Has a server of this member execute a request or forward it.
    fn request(&mut self, server: u32, request: Request<C::Operation>, outputs: &mut Vec<Output<C>>) {
        let Some(own) = self.hosted.servers.get_mut(&server) else { return };
        let client = request.client;
        let before = own.last_of(client).map(|last| last.number);
        let mut effects = Vec::new();
        own.request(request, &mut effects);
        let (pace, remembered) = (own.pace(), own.last_of(client).map(|last| (last.number, last.c)));
        if let Some((number, c)) = remembered.filter(|(number, _)| before != Some(*number)) {
            self.record_answer(server, (client, number, c), &effects);
        }
        self.record_beginning(server, Some(pace), &effects);
        self.pass_on(server, effects, outputs);
    }

    /// Sends a client's requests to the servers that they are for.
    fn send_all(&mut self, sending: Vec<Sending<C>>, outputs: &mut Vec<Output<C>>) {
        for request in sending {
            match request {
                Sending::Request(server, request) => self.ask_server(server, request, outputs),
                Sending::Scan(server, request) => self.scan_server(server, request, 0, outputs),
            }
        }
    }

    /// Asks a server, or its nearest ancestor with a known host, which forwards the request. Before this member is
    /// welcomed, no host is known; then the request is sent again later.
    fn ask_server(&mut self, server: u32, request: Request<C::Operation>, outputs: &mut Vec<Output<C>>) {
        let Some((server, host)) = self.locations.nearest(server) else { return };
        if self.hosted.servers.contains_key(&server) {
            self.request(server, request, outputs);
        } else {
            outputs.push(Output::Send(host, Message::Request(server, request)));
        }
    }

    /// Asks a server for a part of a scan. Servers do not forward these, so members do, to the host of the nearest
    /// server they know of.
    fn scan_server(&mut self, server: u32, request: ScanRequest, hops: u32, outputs: &mut Vec<Output<C>>) {
        if let Some(own) = self.hosted.servers.get_mut(&server) {
            let other_half =
                self.hosted.moves.get(&server).filter(|_| own.has_sent(&request.part) || own.answers_second(&request));
            if let Some(&host) = other_half.filter(|_| hops < MOST_HOPS) {
                return outputs.push(Output::Send(host, Message::Scan { server, request, hops: hops + 1 }));
            }
            let mut effects = Vec::new();
            own.scan(request, &mut effects);
            return self.pass_on(server, effects, outputs);
        }
        let host =
            self.locations.nearest(server).map(|(_, host)| host).filter(|host| *host != self.membership.own.identity);
        match host {
            Some(host) if hops < MOST_HOPS => {
                outputs.push(Output::Send(host, Message::Scan { server, request, hops: hops + 1 }));
            }
            None if self.hosted.is_not_in_the_file(server) => {
                let ScanRequest { client, number, part, .. } = request;
                let answer = ScanAnswer::Gone { server };
                self.send_to_client(None, client, ToClient::Scanned { number, part, answer }, outputs);
            }
            // It is asked for again after its timeout.
            None | Some(_) => {}
        }
    }

    /// Delivers the messages among this member's servers and clients until there are none, or only parts of scans that
    /// have to wait.
    pub(super) fn settle(&mut self, now: Time, outputs: &mut Vec<Output<C>>) {
        let mut parts = 0;
        self.client.goes_on = None;
        for _ in 0..MOST_ROUNDS {
            if let Some((from, to, message)) = self.next_between_servers() {
                if !matches!(message, ToServer::Forward(_)) {
                    self.record_taking((None, None), from, to, None);
                }
                self.deliver(self.membership.own.identity, from, to, message, outputs);
            } else if let Some((client, message)) = self.client.messages.pop_front() {
                parts += usize::from(matches!(message, ToClient::Scanned { .. }));
                if parts > MOST_PARTS {
                    self.client.messages.push_front((client, message));
                    self.client.goes_on = Some(now);
                    return;
                }
                let (sending, answers) =
                    self.client.requests.take(now, place_of(client).1, message, &mut self.client.image);
                outputs.extend(answers.into_iter().map(|(ticket, answer)| Output::Done(ticket, answer)));
                self.send_all(sending, outputs);
            } else {
                return;
            }
        }
        // Servers and clients that repeat themselves endlessly know too little: requests dropped now are sent again
        // later.
        self.client.messages.clear();
    }

    /// Takes out the first message among this member's servers that is not ahead of its receiver.
    fn next_between_servers(&mut self) -> Option<(u32, u32, ToServerOf<C>)> {
        let mut messages = self.hosted.messages.iter();
        let next = messages.position(|(from, to, message)| !self.is_ahead(*from, *to, message))?;
        self.hosted.messages.remove(next)
    }

    /// Whether a message has overtaken the server that it is for, which is still on its way to this member: the sender
    /// knows already where that server goes, from the member that it leaves, and no order is kept between messages from
    /// two members. Only a server at rest moves, and these are what others may tell such a one.
    fn is_ahead(&self, from: u32, to: u32, message: &ToServerOf<C>) -> bool {
        let is_for_one_at_rest =
            matches!(message, ToServer::Token(_) | ToServer::Shrink(_) | ToServer::Keep(_) | ToServer::Leave { .. });
        let has_moved_away = || self.membership.departure().is_some_and(|own| own.moved.contains_key(&to));
        is_for_one_at_rest && from != to && !self.hosted.servers.contains_key(&to) && !has_moved_away()
    }

    /// Delivers another server's message to a server of this member, which the message may open.
    pub(super) fn deliver(
        &mut self,
        member: Identity,
        from: u32,
        to: u32,
        message: ToServerOf<C>,
        outputs: &mut Vec<Output<C>>,
    ) {
        if matches!(message, ToServer::Open { .. }) && !self.hosted.servers.contains_key(&to) {
            self.hosted.servers.insert(to, self.new_server(to));
            if from == to {
                self.begins_to_arrive(to, member);
            } else {
                self.learn_host(to, self.membership.own.identity);
            }
        }
        let Some(server) = self.hosted.servers.get_mut(&to) else {
            return match message {
                ToServer::Forward(request) => self.bounce(member, to, request.client, request.number, outputs),
                message if self.is_ahead(from, to, &message) => self.hosted.messages.push_back((from, to, message)),
                message => self.pass_on_after_it(member, from, to, message, outputs),
            };
        };
        if let ToServer::Forward(request) = message {
            return self.request(to, request, outputs);
        }
        if from == to {
            return self.take_of_other_half(member, to, message, outputs);
        }
        let (mut effects, merges) = (Vec::new(), server.counts.merges);
        server.take(from, message, &mut effects);
        if server.counts.merges > merges
            && let Some(table) = server.table()
        {
            // The server that it took over is gone.
            let over = to | 1 << table.level();
            self.locations.end(over);
        }
        if server.table().is_none() {
            // It was the file's last server, and has left it.
            self.hosted.servers.remove(&to);
            self.client.image = Image::of(Extent::of(to));
            self.locations.forget_host(to, self.membership.own.identity);
        }
        self.pass_on(to, effects, outputs);
    }

    /// Sends a request for a server that is not here back to its client, and tells the sender so.
    fn bounce(&mut self, member: Identity, server: u32, client: u64, number: u64, outputs: &mut Vec<Output<C>>) {
        if member == self.membership.own.identity {
            self.locations.forget_host(server, member);
        } else {
            outputs.push(Output::Send(member, Message::NotHere(server)));
            self.send_new_place(server, member, outputs);
        }
        self.send_to_client(None, client, ToClient::Again { number }, outputs);
    }

    /// Passes on a server's outputs.
    pub(super) fn pass_on(&mut self, server: u32, effects: Vec<OutputOf<C>>, outputs: &mut Vec<Output<C>>) {
        for output in effects {
            match output {
                ServerOutput::Client(client, message) => self.send_to_client(Some(server), client, message, outputs),
                ServerOutput::Server(to, message) => self.send_to_server(server, to, message, outputs),
            }
        }
    }

    fn send_to_client(
        &mut self,
        server: Option<u32>,
        client: u64,
        message: ToClientOf<C>,
        outputs: &mut Vec<Output<C>>,
    ) {
        match place_of(client).0 {
            member if member == self.membership.own.identity => self.client.messages.push_back((client, message)),
            member => outputs.push(Output::Send(member, Message::ToClient { server, client, message })),
        }
    }

    fn send_to_server(&mut self, from: u32, to: u32, message: ToServerOf<C>, outputs: &mut Vec<Output<C>>) {
        if matches!(message, ToServer::Open { .. }) && from != to {
            let host = self.least_loaded(to);
            self.learn_host(to, host);
            self.locations.confirmed.end(to);
        }
        let receiver = match &message {
            _ if from == to => self.hosted.moves.get(&to).map(|host| (to, *host)),
            ToServer::Forward(_) => self.locations.hints.nearest(to),
            _ => self.locations.placement.nearest(to),
        };
        let Some((to, host)) = receiver else { return };
        if host == self.membership.own.identity {
            self.hosted.messages.push_back((from, to, message));
            return;
        }
        let message = match message {
            ToServer::Forward(request) => {
                return outputs.push(Output::Send(host, Message::Forward { from, to, request }));
            }
            message => message,
        };
        self.send_sequenced(host, (from, to), message, None, outputs);
    }

    /// Sends a message that must not be lost; `origin` hosts the sending server, if this member does not.
    pub(super) fn send_sequenced(
        &mut self,
        host: Identity,
        (from, to): (u32, u32),
        message: ToServerOf<C>,
        origin: Option<Identity>,
        outputs: &mut Vec<Output<C>>,
    ) {
        let goes_with_the_token = matches!(
            message,
            ToServer::Open { .. }
                | ToServer::Token(_)
                | ToServer::Shrink(_)
                | ToServer::Keep(_)
                | ToServer::Moved { .. }
        );
        let placement = goes_with_the_token.then(|| self.locations.placement.clone());
        let sequenced = self.reliable.send(host, (from, to), message, placement, origin);
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
        outputs.push(Output::Send(host, Message::Sequenced(sequenced)));
    }

    /// The host for the next server, if there are `servers` now: the connected member with the fewest, preferring
    /// others to this one.
    pub(super) fn least_loaded(&self, servers: u32) -> Identity {
        let loads = self.locations.placement.loads(servers);
        let load = |member: &Identity| loads.get(member).copied().unwrap_or(0);
        let hosts =
            self.membership.hosts().map(|host| host.identity).filter(|host| !self.membership.away.contains_key(host));
        let hosts = hosts.map(|host| (load(&host), Reverse(host != self.membership.own.identity), host));
        hosts.min().map_or(self.membership.own.identity, |(.., member)| member)
    }
}
