//! A server that does one thing at a time, first come, first served: a processor or a communication processor.

use std::collections::VecDeque;

use quantities::Duration;

/// The work that waits, and the work in service.
#[derive(Clone, Debug)]
pub struct Serial<Work> {
    waiting: VecDeque<Work>,
    doing: Option<Work>,
    /// Set while work that takes no time is being carried out, since it may bring more work to the same server.
    settling: bool,
    /// Time that other work has taken from the work in service.
    pub stolen: Duration,
    /// How often the work in service was held up by that.
    pub held_up: u32,
}

impl<Work> Default for Serial<Work> {
    fn default() -> Serial<Work> {
        Serial { waiting: VecDeque::new(), doing: None, settling: false, stolen: Duration::ZERO, held_up: 0 }
    }
}

impl<Work> Serial<Work> {
    /// Whether it is idle.
    pub fn is_idle(&self) -> bool {
        self.doing.is_none() && self.waiting.is_empty()
    }

    /// Adds work at the end of the queue.
    pub fn add(&mut self, work: Work) {
        self.waiting.push_back(work);
    }

    /// The next work, if none is in service.
    pub fn next(&mut self) -> Option<Work> {
        if self.doing.is_some() || self.settling {
            return None;
        }
        self.waiting.pop_front()
    }

    /// The work that waits, if none is in service.
    pub fn next_ones(&mut self) -> Option<&mut VecDeque<Work>> {
        (self.doing.is_none() && !self.settling).then_some(&mut self.waiting)
    }

    /// Sets whether work that takes no time is being carried out.
    pub fn settle(&mut self, settling: bool) {
        self.settling = settling;
    }

    /// Begins `work`.
    pub fn begin(&mut self, work: Work) {
        self.doing = Some(work);
        self.held_up = 0;
    }

    /// Ends the work in service.
    pub fn end(&mut self) -> Option<Work> {
        self.doing.take()
    }
}
