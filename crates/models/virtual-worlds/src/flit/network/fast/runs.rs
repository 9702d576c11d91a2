//! Times of many flits as a few arithmetic progressions.
//!
//! All times in this module are picoseconds since the run began: here the flits of a packet are numbers on a line.

/// `count` flits, the first at `start`, each `step` after the one before. [ps]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub start: u64,
    pub step: u64,
    pub count: u32,
}

impl Run {
    /// The time of the flit at `index`.
    #[inline]
    fn at(&self, index: u32) -> u64 {
        self.start + self.step * u64::from(index)
    }

    /// The time of the last flit.
    #[inline]
    pub fn last(&self) -> u64 {
        self.at(self.count - 1)
    }

    /// The sum of all times.
    #[inline]
    pub fn sum(&self) -> u128 {
        let count = u64::from(self.count);
        let steps = count * (count - 1) / 2;
        u128::from(count) * u128::from(self.start) + u128::from(self.step) * u128::from(steps)
    }

    /// The flits after the first `count`.
    #[inline]
    fn after(&self, count: u32) -> Run {
        Run { start: self.at(count), step: self.step, count: self.count - count }
    }
}

/// Appends `run`, merged with the last run if it continues in the same step.
#[inline]
pub(super) fn append(runs: &mut Vec<Run>, run: Run) {
    if let Some(last) = runs.last_mut() {
        let gap = run.start.wrapping_sub(last.last());
        let continues = last.count == 1 || last.step == gap;
        if continues && (run.count == 1 || run.step == gap) {
            last.step = gap;
            last.count += run.count;
            return;
        }
    }
    runs.push(run);
}

/// A first-in-first-out queue of times.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    count: u32,
}

impl Runs {
    /// `count` times, all zero.
    pub fn zeros(count: u32) -> Runs {
        Runs { runs: vec![Run { start: 0, step: 0, count }], count }
    }

    /// How many times it holds.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The first time.
    #[inline]
    pub fn first(&self) -> Option<u64> {
        self.runs.first().map(|run| run.start)
    }

    /// The time at `index`, if there are that many.
    pub fn at(&self, mut index: u32) -> Option<u64> {
        for run in &self.runs {
            if index < run.count {
                return Some(run.at(index));
            }
            index -= run.count;
        }
        None
    }

    #[inline]
    pub fn as_slice(&self) -> &[Run] {
        &self.runs
    }

    /// Appends `runs`, with each time later by `offset`.
    #[inline]
    pub fn extend(&mut self, runs: &[Run], offset: u64) {
        for run in runs {
            append(&mut self.runs, Run { start: run.start + offset, ..*run });
            self.count += run.count;
        }
    }

    /// Whether each of these times is at most that of the same index in `line`; always false for times whose steps are
    /// longer than the line's own. A list that ends early binds no further.
    #[inline]
    pub fn keep_up_with(&self, line: &Run) -> bool {
        let mut index = 0;
        for run in &self.runs {
            if index >= line.count {
                break;
            }
            if run.start > line.at(index) || (run.step > line.step && run.count > 1) {
                return false;
            }
            index += run.count;
        }
        true
    }

    /// Takes `count` times from the front; returns the last of them.
    #[inline]
    pub fn take(&mut self, count: u32) -> Option<u64> {
        debug_assert!(count <= self.count);
        self.count -= count;
        let (mut rest, mut last, mut whole) = (count, None, 0);
        while rest > 0 {
            let run = self.runs.get_mut(whole)?;
            if rest < run.count {
                last = Some(run.at(rest - 1));
                *run = run.after(rest);
                break;
            }
            rest -= run.count;
            last = Some(run.last());
            whole += 1;
        }
        if whole > 0 {
            // There are seldom more than two runs, so that moving one is the least work.
            self.runs.copy_within(whole.., 0);
            self.runs.truncate(self.runs.len() - whole);
        }
        last
    }
}

/// Reads two lists of runs one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    current: &'a [Run],
    then: &'a [Run],
    offset: u64,
    then_offset: u64,
    taken: u32,
}

impl<'a> Cursor<'a> {
    /// Reads `first`, then `second` with each time later by `offset`.
    #[inline]
    pub fn new(first: &'a [Run], second: &'a [Run], offset: u64) -> Cursor<'a> {
        if first.is_empty() {
            return Cursor { current: second, then: &[], offset, then_offset: 0, taken: 0 };
        }
        Cursor { current: first, then: second, offset: 0, then_offset: offset, taken: 0 }
    }

    /// The rest of the run that is being read; nothing past the end.
    #[inline]
    fn peek(&self) -> Option<Run> {
        let run = self.current.first()?;
        let rest = run.after(self.taken);
        Some(Run { start: rest.start + self.offset, ..rest })
    }

    /// Advances by `count` flits, which are all in the run being read.
    #[inline]
    fn advance(&mut self, count: u32) {
        let Some(run) = self.current.first() else { return };
        self.taken += count;
        if self.taken == run.count {
            self.taken = 0;
            self.current = &self.current[1..];
            if self.current.is_empty() {
                (self.current, self.offset) = (self.then, self.then_offset);
                self.then = &[];
            }
        }
    }
}

/// Whether two lists hold the same times, however they are cut into runs.
pub(super) fn same(one: &[Run], other: &[Run]) -> bool {
    let mut one = Cursor::new(one, &[], 0);
    let mut other = Cursor::new(other, &[], 0);
    loop {
        match (one.peek(), other.peek()) {
            (None, None) => return true,
            (Some(left), Some(right)) => {
                let both = left.count.min(right.count);
                if left.start != right.start || (both > 1 && left.step != right.step) {
                    return false;
                }
                one.advance(both);
                other.advance(both);
            }
            _ => return false,
        }
    }
}

/// A credit loop, which a small buffer makes: no flit starts earlier than `latency` after the flit `slots` before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub slots: u32,
    pub latency: u64,
}

/// How flits start on a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// No flit starts earlier than this after the one before. [ps]
    pub step: u64,
    /// Loops that bind more than `step` does.
    pub loops: [Option<Loop>; 2],
}

/// Computes into `starts` the times at which `count` flits start: flit j starts as soon as it has arrived, a slot is
/// free, and `pace` allows; the first not before `earliest`. A list of arrivals or slots that ends early binds no
/// further.
///
/// D(j) = max(arrivals(j), slots(j), D(j-1) + step, D(j - slots of a loop) + its latency)
pub(super) fn serve(
    starts: &mut Vec<Run>,
    count: u32,
    mut earliest: u64,
    mut arrivals: Cursor<'_>,
    mut slots: Cursor<'_>,
    pace: &Pace,
) {
    starts.clear();
    if pace.loops == [None, None] {
        return serve_without_loops(starts, count, earliest, arrivals, slots, pace.step);
    }
    let step = pace.step;
    let mut done = 0;
    let mut echoes = [Echo::default(); 2];
    while done < count {
        let mut length = count - done;
        let mut lines = Lines::new(earliest, step);
        for bound in [arrivals.peek(), slots.peek()].into_iter().flatten() {
            length = length.min(bound.count);
            lines.add(bound);
        }
        for (echo, bound) in echoes.iter_mut().zip(&pace.loops) {
            let Some(bound) = bound else { continue };
            length = length.min(if done < bound.slots { bound.slots - done } else { echo.limit(starts) });
            if done >= bound.slots {
                lines.add(echo.line(starts, bound.latency));
            }
        }
        lines.append_upper_envelope(starts, length);
        for (echo, bound) in echoes.iter_mut().zip(&pace.loops) {
            if bound.is_some_and(|bound| done >= bound.slots) {
                echo.advance(starts, length);
            }
        }
        arrivals.advance(length);
        slots.advance(length);
        done += length;
        earliest = starts.last().map_or(0, Run::last) + step;
    }
}

/// The same, for a channel whose buffers cover their loops, as most do.
fn serve_without_loops(
    starts: &mut Vec<Run>,
    count: u32,
    mut earliest: u64,
    mut arrivals: Cursor<'_>,
    mut slots: Cursor<'_>,
    step: u64,
) {
    let mut rest = count;
    while rest > 0 {
        let arrival = arrivals.peek().unwrap_or(Run { start: 0, step: 0, count: rest });
        let slot = slots.peek().unwrap_or(Run { start: 0, step: 0, count: rest });
        let length = rest.min(arrival.count).min(slot.count);
        if arrival.step <= step && slot.step <= step {
            let start = earliest.max(arrival.start).max(slot.start);
            append(starts, Run { start, step, count: length });
            earliest = start + step * u64::from(length);
        } else {
            let mut lines = Lines::new(earliest, step);
            lines.add(arrival);
            lines.add(slot);
            lines.append_upper_envelope(starts, length);
            earliest = starts.last().map_or(0, Run::last) + step;
        }
        arrivals.advance(length);
        slots.advance(length);
        rest -= length;
    }
}

/// A reader of the starts computed earlier in the same pass, which the growth of the last run must not disturb.
#[derive(Clone, Copy, Debug, Default)]
struct Echo {
    run: usize,
    taken: u32,
}

impl Echo {
    fn limit(&self, starts: &[Run]) -> u32 {
        starts[self.run].count - self.taken
    }

    fn line(&self, starts: &[Run], latency: u64) -> Run {
        let rest = starts[self.run].after(self.taken);
        Run { start: rest.start + latency, ..rest }
    }

    fn advance(&mut self, starts: &[Run], count: u32) {
        self.taken += count;
        if self.taken == starts[self.run].count && self.run + 1 < starts.len() {
            self.run += 1;
            self.taken = 0;
        }
    }
}

/// Straight lines over the flit's index, all at least as steep as the channel's step, and their maximum.
struct Lines {
    lines: [(u64, u64); 5],
    count: usize,
    step: u64,
}

impl Lines {
    #[inline]
    fn new(start: u64, step: u64) -> Lines {
        Lines { lines: [(start, step); 5], count: 1, step }
    }

    /// Adds a bound. A run that comes in faster than the channel's step goes out in that step.
    #[inline]
    fn add(&mut self, bound: Run) {
        let slope = if bound.count == 1 { self.step } else { bound.step.max(self.step) };
        self.lines[self.count] = (bound.start, slope);
        self.count += 1;
    }

    /// Appends the maximum of all lines over `length` flits.
    #[inline]
    fn append_upper_envelope(&self, starts: &mut Vec<Run>, length: u32) {
        let lines = &self.lines[..self.count];
        let (mut start, mut slope) = lines[0];
        for &(other, steeper) in &lines[1..] {
            if (other, steeper) > (start, slope) {
                (start, slope) = (other, steeper);
            }
        }
        let mut index = 0;
        loop {
            // A steeper line overtakes at the first flit at which it is higher.
            let mut end = length;
            for &(other, steeper) in lines {
                if steeper > slope {
                    let current = other + steeper * u64::from(index);
                    let overtakes = u64::from(index) + (start - current) / (steeper - slope) + 1;
                    end = end.min(overtakes.min(u64::from(length)) as u32);
                }
            }
            append(starts, Run { start, step: slope, count: end - index });
            if end == length {
                return;
            }
            index = end;
            (start, slope) = lines
                .iter()
                .map(|&(other, steeper)| (other + steeper * u64::from(index), steeper))
                .max()
                .unwrap_or((start, slope));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(runs: &[Run]) -> Vec<u64> {
        runs.iter().flat_map(|run| (0..run.count).map(|index| run.at(index))).collect()
    }

    fn ascending() -> impl Strategy<Value = Vec<Run>> {
        prop::collection::vec((0u64..30, 0u64..12, 1u32..9), 0..6).prop_map(|pieces| {
            let mut runs: Vec<Run> = Vec::new();
            let mut from = 0;
            for (gap, step, count) in pieces {
                let run = Run { start: from + gap, step, count };
                from = run.last();
                runs.push(run);
            }
            runs
        })
    }

    proptest! {
        /// Runs give the same times as the recurrence does flit by flit.
        #[test]
        fn served_flits_follow_the_recurrence(
            first in ascending(), second in ascending(), slots in ascending(),
            count in 1u32..40, earliest in 0u64..60, step in 1u64..12,
            slots_of_loop in 2u32..7, latency in 0u64..90, binds in any::<bool>(), offset in 0u64..9,
        ) {
            let second: Vec<Run> = {
                let base = first.last().map_or(0, Run::last);
                second.iter().map(|run| Run { start: run.start + base, ..*run }).collect()
            };
            let bound = binds.then_some(Loop { slots: slots_of_loop, latency });
            let mut starts = Vec::new();
            let pace = Pace { step, loops: [None, bound] };
            serve(&mut starts, count, earliest, Cursor::new(&first, &second, offset), Cursor::new(&slots, &[], 0), &pace);
            let mut arrivals = times(&first);
            arrivals.extend(times(&second).iter().map(|time| time + offset));
            let slots = times(&slots);
            let mut expected: Vec<u64> = Vec::new();
            for flit in 0..count as usize {
                let mut start = expected.last().map_or(earliest, |before| before + step);
                start = start.max(arrivals.get(flit).copied().unwrap_or(0)).max(slots.get(flit).copied().unwrap_or(0));
                if binds && flit >= slots_of_loop as usize {
                    start = start.max(expected[flit - slots_of_loop as usize] + latency);
                }
                expected.push(start);
            }
            prop_assert_eq!(times(&starts), expected);
        }

        /// A queue of runs behaves as a queue.
        #[test]
        fn taking_from_the_front_leaves_the_rest(runs in ascending(), taken in 0u32..60) {
            let mut queue = Runs::default();
            queue.extend(&runs, 7);
            let all: Vec<u64> = times(&runs).iter().map(|time| time + 7).collect();
            let taken = taken.min(queue.count());
            let last = queue.take(taken);
            prop_assert_eq!(last, taken.checked_sub(1).map(|index| all[index as usize]));
            prop_assert_eq!(times(queue.as_slice()), all[taken as usize..].to_vec());
            prop_assert_eq!(queue.count() as usize, all.len() - taken as usize);
        }
    }
}
