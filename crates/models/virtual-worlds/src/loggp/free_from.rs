//! From when on the processors, or the network interfaces, of a rank are free.

use quantities::Time;

/// Times from which numbered resources are free, initially from the beginning. Most ranks have only the first.
#[derive(Debug, Default)]
pub(super) struct FreeFrom {
    first: Time,
    /// Those from number 1 on that have been used.
    others: Box<[Time]>,
}

impl FreeFrom {
    /// From when on the resource with this number is free.
    #[inline]
    pub(super) fn get(&self, number: u8) -> Time {
        match number {
            0 => self.first,
            _ => self.others.get(usize::from(number) - 1).copied().unwrap_or(Time::ZERO),
        }
    }

    /// Occupies a resource until `time`, unless it is occupied for longer already.
    #[inline]
    pub(super) fn keep(&mut self, number: u8, until: Time) {
        let place = match number {
            0 => &mut self.first,
            _ => self.other(usize::from(number) - 1),
        };
        *place = until.max(*place);
    }

    /// From when on all resources are free.
    pub(super) fn all(&self) -> Time {
        self.others.iter().copied().fold(self.first, Time::max)
    }

    fn other(&mut self, place: usize) -> &mut Time {
        if self.others.len() <= place {
            let mut others = std::mem::take(&mut self.others).into_vec();
            others.resize(place + 1, Time::ZERO);
            self.others = others.into_boxed_slice();
        }
        &mut self.others[place]
    }
}
