//! What a program on a node of an Ethernet can do: send frames, receive them, use the memory of its node, and let time
//! pass.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use endpoint::Result;
use machines::model::{Ethernet, Memory, Messaging};
use messaging::{CopyCost, Datagram, Datagrams};
use quantities::{Bytes, Duration, Rank, Time};

use super::parameters::copy_cost;
use crate::ethernet::{Destination, Fragment, Network, Received, Through, split};

/// A rank's access to the network and to the memory of its node. Its processor does one thing at a time.
#[derive(Debug)]
pub(super) struct Port<'run, P> {
    network: &'run RefCell<Network<P>>,
    rank: Rank,
    /// All ranks of its node, and how many ranks of other nodes receive a broadcast.
    neighbours: Range<u32>,
    elsewhere: u64,
    /// What frames cost the processor, and what is in them.
    ethernet: &'run Ethernet,
    /// What its next frames cost in addition, until it has sent one and taken one.
    first: First,
    /// How many packets it has split into fragments.
    split: Cell<u64>,
}

/// A node that has waited this long is as cold as at the beginning: its processor has done other things. Chosen:
/// launched ranks are cold after waits of 400 us, and wait for less within programs of small messages.
const COLD_AFTER: Duration = Duration::from_microseconds(300);

/// The additional cost of the first frame sent, and of the first taken, at the beginning and after a long wait; else
/// zero.
#[derive(Debug)]
struct First {
    sent: Cell<Duration>,
    taken: Cell<Duration>,
}

impl First {
    fn new(cold: Duration) -> First {
        First { sent: Cell::new(cold), taken: Cell::new(cold) }
    }

    fn become_cold(&self, cold: Duration) {
        self.sent.set(cold);
        self.taken.set(cold);
    }
}

impl<'run, P: Clone> Port<'run, P> {
    pub(super) fn new(
        network: &'run RefCell<Network<P>>,
        ethernet: &'run Ethernet,
        rank: Rank,
        ranks: u32,
    ) -> Port<'run, P> {
        let neighbours = network.borrow().neighbours(rank);
        let elsewhere = u64::from(ranks) - neighbours.len() as u64;
        let first = First::new(ethernet.cold);
        Port { network, rank, neighbours, elsewhere, ethernet, first, split: Cell::new(0) }
    }

    pub(super) fn now(&self) -> Time {
        self.network.borrow().now()
    }

    /// Occupies a processor for `length`, once it has one.
    async fn work(&self, length: Duration) {
        if length.is_zero() {
            return;
        }
        poll_fn(|_| match self.network.borrow_mut().take_processor(self.rank) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        let mut left = length;
        while !left.is_zero() {
            self.sleep(left).await;
            left = self.network.borrow_mut().take_stolen(self.rank);
        }
    }

    /// Lets `length` pass.
    async fn sleep(&self, length: Duration) {
        if length.is_zero() {
            return;
        }
        let until = self.now() + length;
        self.network.borrow_mut().wake_at(self.rank, until);
        poll_fn(|_| if self.now() < until { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    /// What its next frame each way costs in addition after a long wait.
    fn cold(&self) -> Duration {
        let Ethernet { cold, cold_each, .. } = *self.ethernet;
        // Most machines have no cost that depends on others, who are many.
        let others = if cold_each.is_zero() { 0 } else { self.network.borrow().others_on_processor(self.rank) };
        cold + cold_each * others
    }

    /// Sends a packet of `size` bytes, in as many frames as it takes.
    async fn transmit(&self, to: Destination, size: Bytes, payload: P) {
        if size <= self.ethernet.payload {
            return self.transmit_frame(to, size, None, payload).await;
        }
        let frames = split(size, self.ethernet.payload);
        let count = frames.len() as u32;
        let packet = self.split.replace(self.split.get() + 1);
        for (index, size) in (0..count).zip(frames) {
            let fragment = Some(Fragment { packet, index, count });
            self.transmit_frame(to, size, fragment, payload.clone()).await;
        }
    }

    /// Puts a frame into the transmit ring, as soon as there is room.
    async fn transmit_frame(&self, to: Destination, size: Bytes, fragment: Option<Fragment>, payload: P) {
        let receivers = if to == Destination::All { self.elsewhere } else { 0 };
        let own = self.ethernet.send + self.first.sent.take();
        self.work(own + self.ethernet.copy * size.0 + self.ethernet.broadcast_each * receivers).await;
        let mut payload = Some(payload);
        let delivery = poll_fn(|_| {
            let mut network = self.network.borrow_mut();
            if !network.has_room(self.rank) {
                network.wait_for_room(self.rank);
                network.release_processor(self.rank);
                return Poll::Pending;
            }
            let delivery = network.delivery(self.rank, to, size);
            if let Some(payload) = payload.take() {
                network.transmit_fragment(self.rank, to, size, fragment, payload);
            }
            Poll::Ready(delivery)
        })
        .await;
        // Only the last fragment makes a packet for which a receiver is woken.
        let is_last = fragment.is_none_or(|fragment| fragment.index + 1 == fragment.count);
        let interrupts = if is_last { delivery.interrupts } else { 0 };
        self.work(self.ethernet.switch_copy * delivery.copies + self.ethernet.interrupt * interrupts).await;
    }

    /// Waits for what comes next, until `deadline` at the latest; returns it, and whether its processor was free for
    /// others meanwhile.
    async fn wait(&self, deadline: Option<Time>) -> (Option<Received<P>>, bool) {
        let (mut asked, mut waited, begun) = (false, false, self.now());
        // Until when it keeps its processor.
        let mut blocks = None;
        let received = poll_fn(|_| {
            let mut network = self.network.borrow_mut();
            let received = network.take(self.rank);
            if received.is_some() || deadline.is_some_and(|deadline| deadline <= network.now()) {
                return Poll::Ready(received);
            }
            // No run lasts until a later one.
            if let (Some(deadline), false) = (deadline.filter(|deadline| *deadline < Time::NEVER), asked) {
                network.wake_at(self.rank, deadline);
                asked = true;
            }
            if !self.ethernet.block.is_zero() && blocks.is_none() && network.has_processor(self.rank) {
                let until = begun + self.ethernet.block;
                network.wake_at(self.rank, until);
                blocks = Some(until);
            }
            if blocks.is_none_or(|until| until <= network.now()) {
                waited = true;
                network.release_processor(self.rank);
            }
            Poll::Pending
        })
        .await;
        if self.now().since(begun) >= COLD_AFTER {
            self.first.become_cold(self.cold());
        }
        (received, waited)
    }

    /// Until it runs again, if it has waited and a processor is idle.
    async fn wake(&self, waited: bool) {
        if waited && self.network.borrow().has_idle_processor() {
            self.work(self.ethernet.wake).await;
        }
    }
}

impl Port<'_, Datagram> {
    /// The size of a datagram as the payload of a frame.
    fn size_of(&self, datagram: &Datagram) -> Bytes {
        let Messaging { header, envelope, .. } = self.ethernet.messaging;
        let written = header.map_or(datagram.size() as u64, |header| header.0 + datagram.payload().size().0);
        Bytes(envelope.unwrap_or(Bytes(0)).0 + written)
    }

    /// What messages through the memory of its node cost, and to copy them.
    fn memory(&self) -> (Memory, CopyCost) {
        let memory = self.ethernet.memory.unwrap_or_default();
        (memory, copy_cost(&memory))
    }

    /// Puts a datagram into memory for another rank of its node. What only says what has arrived, or asks for it, costs
    /// nothing.
    async fn put_in_memory(&self, to: Rank, datagram: &Datagram) {
        let size = datagram.payload().size();
        if datagram.carries_message() {
            let (Memory { send, .. }, copy) = self.memory();
            self.work(send + copy.of(size)).await;
        }
        self.network.borrow_mut().put_in_memory(self.rank, to, size, datagram.clone());
    }

    /// One frame is for the ranks of all other nodes. It is on its way while the others get their copies.
    async fn send_to_all(&self, datagram: &Datagram) {
        if self.elsewhere > 0 {
            self.transmit(Destination::All, self.size_of(datagram), datagram.clone()).await;
        }
        for rank in self.neighbours.clone().map(Rank).filter(|&rank| rank != self.rank) {
            self.put_in_memory(rank, datagram).await;
        }
    }

    /// Takes what comes next, until `deadline` at the latest.
    async fn take(&self, deadline: Option<Time>) -> Option<Datagram> {
        let (received, waited) = self.wait(deadline).await;
        let Some(Received { through, size, payload, .. }) = received else {
            if waited {
                self.work(self.ethernet.timer).await;
            }
            return None;
        };
        match through {
            Through::Wire => {
                self.wake(waited).await;
                let own = self.ethernet.receive + self.first.taken.take();
                self.work(own + self.ethernet.copy * size.0).await;
            }
            // Its sender has copied it.
            Through::Memory if payload.carries_message() => {
                self.wake(waited).await;
                self.work(self.memory().0.receive).await;
            }
            Through::Memory => {}
        }
        Some(payload)
    }
}

impl Datagrams for Port<'_, Datagram> {
    fn now(&self) -> Time {
        self.now()
    }

    async fn send(&self, datagrams: &[(messaging::Destination, Datagram)]) -> Result<()> {
        let is_near = |rank: &Rank| self.neighbours.contains(&rank.0);
        let needs_frame = |to: &messaging::Destination| match to {
            messaging::Destination::One(rank) => !is_near(rank),
            messaging::Destination::All => self.elsewhere > 0,
        };
        if datagrams.iter().any(|(to, _)| needs_frame(to)) {
            self.work(self.ethernet.handover).await;
        }
        for (to, datagram) in datagrams {
            match *to {
                messaging::Destination::One(rank) if is_near(&rank) => self.put_in_memory(rank, datagram).await,
                messaging::Destination::One(rank) => {
                    self.transmit(Destination::One(rank), self.size_of(datagram), datagram.clone()).await;
                }
                messaging::Destination::All => self.send_to_all(datagram).await,
            }
        }
        Ok(())
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        arrived.extend(self.take(until).await);
        // A node that hands frames over in batches takes all that have arrived before it sends any, and others one.
        let takes_all = self.ethernet.messaging.batch.is_some();
        let there = if takes_all { self.network.borrow().waiting(self.rank) } else { 0 };
        for _ in 0..there {
            arrived.extend(self.take(until).await);
        }
        Ok(())
    }
}
