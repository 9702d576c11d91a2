//! The least possible time, if messages may be cut.

use quantities::{Bytes, Rank};

use super::edge_colouring;
use crate::schedule::{Pattern, Schedule, Transfer};

/// Scheduling by decomposition into permutations: messages may go in several parts, and the sum of the largest
/// transfers of all steps is exactly W, where W is the most bytes that one rank sends or receives. Less is not
/// possible.
///
/// ```text
///   add filler entries to the matrix until all rows and columns sum to W
///   for t = the largest power of two that is not above its entries, halved down to 1:
///       while the entries of at least t hold a permutation:
///           d = the least entry of the permutation
///           a step: each sender of the permutation sends d bytes, or what is left of its message
///           subtract d from the entries of the permutation
/// ```
///
/// The entries of such a matrix always hold a permutation (Birkhoff's theorem), so it ends with nothing left. Trying
/// large thresholds first cuts few messages: if all are of one size, none is cut, and the steps are those of an edge
/// colouring. At most M + 2 P steps for M messages. Worthwhile where bytes cost much more than messages.
///
/// O((M + P)^2) at worst, which is feasible for some hundred ranks.
///
/// Source: Birkhoff, "Tres observaciones sobre el algebra lineal", 1946; Gonzalez and Sahni, "Open shop scheduling to
/// minimize finish time", Journal of the ACM 23(4), 1976; the thresholds are those of Liu et al., "Scheduling
/// techniques for hybrid circuit/packet networks", CoNEXT 2015.
pub fn birkhoff(pattern: &Pattern) -> Schedule {
    let mut matrix = Matrix::of(pattern);
    let mut steps = Vec::new();
    let mut threshold = matrix.entries.iter().map(|entry| entry.amount).max().map_or(0, highest_power);
    let mut matching = Matching::new(pattern.ranks());
    while threshold > 0 {
        if matching.complete(&matrix, threshold) {
            let step = matrix.subtract(&mut matching, threshold);
            steps.push(step);
        } else {
            threshold /= 2;
        }
    }
    // Empty messages are not in the matrix: they go last.
    let empty = pattern.messages().iter().filter(|message| message.bytes.0 == 0).copied().collect();
    if let Ok(empty) = Pattern::of_messages(pattern.ranks(), empty) {
        steps.extend(edge_colouring(&empty).steps);
    }
    Schedule::new(pattern.ranks(), steps)
}

/// The largest power of two that does not exceed `amount`; 0 for 0.
fn highest_power(amount: u64) -> u64 {
    amount.checked_ilog2().map_or(0, |power| 1 << power)
}

/// What is left to send, with filler.
struct Matrix {
    entries: Vec<Entry>,
    /// For each row, the indices of its entries.
    rows: Vec<Vec<u32>>,
}

/// An entry of the matrix.
#[derive(Clone, Copy)]
struct Entry {
    from: u32,
    to: u32,
    /// What is left of it. [B]
    amount: u64,
    /// How much of that is to be sent; the rest is filler. [B]
    message: u64,
}

impl Matrix {
    fn of(pattern: &Pattern) -> Matrix {
        let messages = pattern.messages().iter().filter(|message| message.bytes.0 > 0);
        let entry = |message: &Transfer| {
            let Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(bytes) } = *message;
            Entry { from, to, amount: bytes, message: bytes }
        };
        let mut matrix =
            Matrix { entries: messages.map(entry).collect(), rows: vec![Vec::new(); pattern.ranks() as usize] };
        matrix.fill_up(pattern);
        for (index, entry) in (0..).zip(&matrix.entries) {
            matrix.rows[entry.from as usize].push(index);
        }
        matrix
    }

    /// Adds entries until all rows and columns have the same sum: at most 2 P - 1, from the first corner to the last.
    fn fill_up(&mut self, pattern: &Pattern) {
        let most = pattern.most_bytes_of_a_rank().0;
        let (mut rows, mut columns): (Vec<u64>, Vec<u64>) =
            pattern.loads().into_iter().map(|(sent, received)| (most - sent.0, most - received.0)).unzip();
        let (mut row, mut column) = (0, 0);
        while row < rows.len() && column < columns.len() {
            let amount = rows[row].min(columns[column]);
            if amount > 0 {
                self.entries.push(Entry { from: row as u32, to: column as u32, amount, message: 0 });
            }
            rows[row] -= amount;
            columns[column] -= amount;
            if rows[row] == 0 {
                row += 1;
            } else {
                column += 1;
            }
        }
    }

    /// Subtracts the least amount in the matching from each of its entries; returns the transfers of that step. Entries
    /// that fall below `threshold` leave the matching.
    fn subtract(&mut self, matching: &mut Matching, threshold: u64) -> Vec<Transfer> {
        let least =
            matching.of_row.iter().flatten().map(|&index| self.entries[index as usize].amount).min().unwrap_or(0);
        let mut step = Vec::new();
        for row in 0..self.rows.len() {
            let Some(index) = matching.of_row[row] else { continue };
            let entry = &mut self.entries[index as usize];
            let sent = entry.message.min(least);
            if sent > 0 {
                step.push(Transfer { from: Rank(entry.from), to: Rank(entry.to), bytes: Bytes(sent) });
            }
            entry.message -= sent;
            entry.amount -= least;
            if entry.amount < threshold {
                matching.of_row[row] = None;
                matching.of_column[entry.to as usize] = None;
            }
            if entry.amount == 0 {
                self.rows[row].retain(|&other| other != index);
            }
        }
        step
    }
}

/// A set of entries, no two of which are in the same row or column.
struct Matching {
    of_row: Vec<Option<u32>>,
    of_column: Vec<Option<u32>>,
    /// The search in which each column was last visited.
    met: Vec<u32>,
    search: u32,
}

impl Matching {
    fn new(ranks: u32) -> Matching {
        let nothing = vec![None; ranks as usize];
        Matching { of_row: nothing.clone(), of_column: nothing, met: vec![0; ranks as usize], search: 0 }
    }

    /// Extends it to a permutation of entries of at least `threshold`; returns whether that is possible.
    fn complete(&mut self, matrix: &Matrix, threshold: u64) -> bool {
        (0..matrix.rows.len()).all(|row| self.of_row[row].is_some() || self.augment(matrix, threshold, row))
    }

    /// Gives the row `start` an entry, reassigning other rows along the shortest augmenting path.
    fn augment(&mut self, matrix: &Matrix, threshold: u64, start: usize) -> bool {
        self.search += 1;
        // Rows that need an entry, each with the step of the path that led to it.
        let mut path: Vec<(usize, usize, u32)> = vec![(start, usize::MAX, u32::MAX)];
        let mut next = 0;
        while next < path.len() {
            let row = path[next].0;
            for &index in &matrix.rows[row] {
                let Entry { to, amount, .. } = matrix.entries[index as usize];
                if amount < threshold || self.met[to as usize] == self.search {
                    continue;
                }
                self.met[to as usize] = self.search;
                match self.of_column[to as usize] {
                    Some(taken) => path.push((matrix.entries[taken as usize].from as usize, next, index)),
                    None => {
                        self.change_along(matrix, &path, next, index);
                        return true;
                    }
                }
            }
            next += 1;
        }
        false
    }

    /// Gives the row at `place` of the path the entry `index`, the row before it the entry that this row had, and so
    /// on.
    fn change_along(&mut self, matrix: &Matrix, path: &[(usize, usize, u32)], place: usize, index: u32) {
        let (mut place, mut index) = (place, index);
        while let Some(&(row, before, taken)) = path.get(place) {
            self.of_row[row] = Some(index);
            self.of_column[matrix.entries[index as usize].to as usize] = Some(index);
            (place, index) = (before, taken);
        }
    }
}
