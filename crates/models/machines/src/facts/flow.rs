//! The most that can flow through a network of edges of given capacity, which is also the least cut (Dinitz, 1970).

/// A network of edges; edge e ^ 1 is the reverse of edge e.
pub(super) struct Flow {
    /// For every edge, where it leads and how much more it can carry.
    edges: Vec<(usize, u64)>,
    out: Vec<Vec<usize>>,
}

impl Flow {
    pub fn new(places: usize) -> Flow {
        Flow { edges: Vec::new(), out: vec![Vec::new(); places] }
    }

    pub fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.out[from].push(self.edges.len());
        self.edges.push((to, capacity));
        self.out[to].push(self.edges.len());
        self.edges.push((from, 0));
    }

    /// The maximum flow between two places. The flow is subtracted from the capacities.
    pub fn most(&mut self, from: usize, to: usize) -> u64 {
        let mut total = 0;
        loop {
            let levels = self.levels(from);
            if levels[to] == usize::MAX {
                return total;
            }
            let mut next = vec![0; self.out.len()];
            loop {
                let pushed = self.push(from, to, &levels, &mut next);
                if pushed == 0 {
                    break;
                }
                total += pushed;
            }
        }
    }

    /// The distance of each place from `from`, in edges with capacity left.
    fn levels(&self, from: usize) -> Vec<usize> {
        let mut levels = vec![usize::MAX; self.out.len()];
        levels[from] = 0;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&place) = reached.get(next) {
            next += 1;
            for &edge in &self.out[place] {
                let (to, capacity) = self.edges[edge];
                if capacity > 0 && levels[to] == usize::MAX {
                    levels[to] = levels[place] + 1;
                    reached.push(to);
                }
            }
        }
        levels
    }

    /// Sends what fits along one path that goes up the levels; `next` skips the edges already found to lead nowhere.
    fn push(&mut self, from: usize, to: usize, levels: &[usize], next: &mut [usize]) -> u64 {
        let mut path: Vec<usize> = Vec::new();
        let mut place = from;
        while place != to {
            let Some(&edge) = self.out[place].get(next[place]) else {
                // A dead end: go back and leave out the edge that led to it.
                let Some(edge) = path.pop() else { return 0 };
                place = self.edges[edge ^ 1].0;
                next[place] += 1;
                continue;
            };
            let (there, capacity) = self.edges[edge];
            if capacity > 0 && levels[there] == levels[place] + 1 {
                path.push(edge);
                place = there;
            } else {
                next[place] += 1;
            }
        }
        let fits = path.iter().map(|&edge| self.edges[edge].1).min().unwrap_or(0);
        for edge in path {
            self.edges[edge].1 -= fits;
            self.edges[edge ^ 1].1 += fits;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;

    #[test]
    fn the_narrowest_place_counts() {
        let mut flow = Flow::new(5);
        for (from, to, capacity) in [(0, 1, 10), (0, 2, 10), (1, 3, 4), (2, 3, 9), (1, 2, 2), (3, 4, 12)] {
            flow.edge(from, to, capacity);
        }
        assert_eq!(flow.most(0, 4), 12);
    }

    #[test]
    fn a_bad_first_path_is_taken_back() {
        let mut flow = Flow::new(4);
        for (from, to) in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)] {
            flow.edge(from, to, 1);
        }
        assert_eq!(flow.most(0, 3), 2);
    }
}
