//! A receiver's side of a stream: which packets it accepts, and when it reports.

use bytes::Bytes;
use quantities::{Duration, Time};

use crate::sequence::{near, wire};
use crate::{Parity, Repeat, go_back_n, packet, selective_repeat};

/// How a receiver reports.
#[derive(Clone, Copy, Debug)]
pub struct Reporting {
    /// After this many packets.
    pub packets: u64,
    /// Or this long after one, unless something demands a report at once.
    pub delay: Duration,
}

#[derive(Clone, Debug)]
enum ReceiveWindow<P> {
    GoBackN(go_back_n::ReceiveWindow<P>),
    Selective(selective_repeat::ReceiveWindow<P>),
}

/// A stream from one source.
#[derive(Clone, Debug)]
pub struct ReceiveStream<P> {
    order: ReceiveWindow<P>,
    reporting: Reporting,
    /// When to report.
    due: Option<Time>,
    /// Packets accepted since the last report.
    unreported: u64,
    /// Whether a packet has arrived since the last report before which another one is missing.
    missing: bool,
    /// Whether the source has asked for a report since the last one.
    report_requested: bool,
    /// Whether the receiver has no room for the packet whose turn it is.
    no_room: bool,
    /// How many duplicate packets arrived.
    duplicates: u64,
    spaced: Option<Spaced>,
}

/// How the receivers of broadcasts with parity packets report. A missing packet is no reason to report at once, since a
/// repair is only asked for when its block is full; and each receiver reports after different packets.
#[derive(Clone, Copy, Debug)]
struct Spaced {
    /// It reports after every packet whose number plus `phase` is a multiple of [`Reporting::packets`].
    phase: u64,
    /// How many of those have arrived, or were missed.
    passed: u64,
    /// When the stream will have been quiet for [`Reporting::delay`].
    quiet: Option<Time>,
    /// How many parity packets have arrived since the last report.
    parity: u64,
}

impl<P> ReceiveStream<P> {
    /// A stream whose first packet has number `first`, with at most `window` packets in flight.
    pub const fn new(first: u64, window: u64, repeat: Repeat, reporting: Reporting) -> ReceiveStream<P> {
        let order = match repeat {
            Repeat::GoBackN => ReceiveWindow::GoBackN(go_back_n::ReceiveWindow::new(first)),
            Repeat::Selective | Repeat::Parity(_) => {
                ReceiveWindow::Selective(selective_repeat::ReceiveWindow::new(first, window))
            }
        };
        ReceiveStream {
            order,
            reporting,
            due: None,
            unreported: 0,
            missing: false,
            report_requested: false,
            no_room: false,
            duplicates: 0,
            spaced: None,
        }
    }

    /// A stream with parity packets. Its receivers report after packets that are `phase` apart.
    pub(crate) fn with_parity(first: u64, parity: Parity, reporting: Reporting, phase: u64) -> ReceiveStream<P> {
        let passed = (first + phase) / reporting.packets;
        let spaced = Some(Spaced { phase, passed, quiet: None, parity: 0 });
        ReceiveStream { spaced, ..ReceiveStream::new(first, parity.window().into(), Repeat::Parity(parity), reporting) }
    }

    /// The first packet that it lacks.
    pub const fn expected(&self) -> u64 {
        match &self.order {
            ReceiveWindow::GoBackN(order) => order.expected,
            ReceiveWindow::Selective(order) => order.expected,
        }
    }

    /// Takes a packet as far as its order allows; [`ReceiveStream::front`] tells whether one's turn has come. `answer`:
    /// its source requests a report at once.
    pub fn offer(&mut self, now: Time, sequence: u32, answer: bool, packet: P) {
        let Some(sequence) = near(self.expected(), sequence) else { return };
        let is_new = sequence >= self.expected();
        self.duplicates += u64::from(!is_new || self.early(sequence).is_some());
        let gap = match &mut self.order {
            ReceiveWindow::GoBackN(order) => order.offer(sequence, packet),
            ReceiveWindow::Selective(order) => order.offer(sequence, packet),
        };
        self.missing |= gap;
        self.report_requested |= answer;
        if (gap && self.spaced.is_none()) || answer || !is_new {
            self.report_at(now);
        }
        if let Some(spaced) = &mut self.spaced {
            spaced.quiet = Some(now + self.reporting.delay);
            let passed = (sequence + spaced.phase) / self.reporting.packets;
            if passed > spaced.passed {
                spaced.passed = passed;
                self.report_at(now);
            }
        }
    }

    /// A parity packet has arrived.
    pub(crate) fn note_parity(&mut self, now: Time) {
        let Some(spaced) = &mut self.spaced else { return };
        spaced.quiet = Some(now + self.reporting.delay);
        spaced.parity += 1;
        if spaced.parity >= self.reporting.packets {
            self.report_at(now);
        }
    }

    /// The packet with this number, if it arrived early.
    pub(crate) fn early(&self, sequence: u64) -> Option<&P> {
        match &self.order {
            ReceiveWindow::GoBackN(_) => None,
            ReceiveWindow::Selective(order) => order.early(sequence),
        }
    }

    /// How many duplicate packets arrived: they were sent again needlessly.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// The packet whose turn it is, if it has arrived.
    pub fn front(&self) -> Option<&P> {
        match &self.order {
            ReceiveWindow::GoBackN(order) => order.front(),
            ReceiveWindow::Selective(order) => order.front(),
        }
    }

    /// That packet has been stored.
    pub fn advance(&mut self, now: Time) -> Option<P> {
        self.advance_by(now, self.reporting.packets)
    }

    /// That packet has been stored, and is reported at once if `packets` are unreported.
    pub fn advance_by(&mut self, now: Time, packets: u64) -> Option<P> {
        let packet = match &mut self.order {
            ReceiveWindow::GoBackN(order) => order.advance(),
            ReceiveWindow::Selective(order) => order.advance(),
        }?;
        if self.spaced.is_some() {
            return Some(packet);
        }
        self.unreported += 1;
        let enough = self.unreported >= packets;
        self.report_at(if enough { now } else { now + self.reporting.delay });
        Some(packet)
    }

    /// That packet could not be stored: its source is told to wait.
    pub fn refuse(&mut self, now: Time) {
        if let ReceiveWindow::GoBackN(order) = &mut self.order {
            order.refuse();
        }
        if !self.no_room {
            self.no_room = true;
            self.report_at(now);
        }
    }

    /// There is room again: the source is told so if it had been told to wait.
    pub fn has_room(&mut self, now: Time) {
        if self.no_room {
            self.no_room = false;
            self.report_at(now);
        }
    }

    /// The source asks what has arrived.
    pub fn ask(&mut self, now: Time) {
        self.report_requested = true;
        self.report_at(now);
    }

    /// A report is due at `time` at the latest.
    pub fn report_at(&mut self, time: Time) {
        self.due = Some(self.due.map_or(time, |due| due.min(time)));
    }

    /// A report is due as soon as after a packet.
    pub fn report_soon(&mut self, now: Time) {
        self.report_at(now + self.reporting.delay);
    }

    /// When a report is due.
    pub fn due(&self) -> Option<Time> {
        let quiet = self.spaced.and_then(|spaced| spaced.quiet);
        [self.due, quiet].into_iter().flatten().min()
    }

    /// The current report, without its part about messages. None is due afterwards.
    pub fn report(&mut self) -> packet::ReceiverReport {
        self.due = None;
        self.unreported = 0;
        if let Some(spaced) = &mut self.spaced {
            (spaced.quiet, spaced.parity) = (None, 0);
        }
        let bitmap = match &self.order {
            ReceiveWindow::GoBackN(_) => Bytes::new(),
            ReceiveWindow::Selective(order) => order.bitmap(),
        };
        packet::ReceiverReport {
            expected: wire(self.expected()),
            bitmap,
            missing: std::mem::take(&mut self.missing),
            answers: std::mem::take(&mut self.report_requested),
            no_room: self.no_room,
            ..Default::default()
        }
    }
}
