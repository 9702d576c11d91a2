//! Operations that wait for each other.

use super::Requirement;

/// A cycle in which some of the `count` operations wait for each other: the places of its requirements in
/// `requirements`, in order. Nothing if every operation can happen.
pub(super) fn find_cycle(
    count: usize,
    requirements: impl ExactSizeIterator<Item = Requirement> + Clone,
) -> Option<Vec<usize>> {
    // Usually each operation requires only earlier ones, and then there is nothing to search.
    if requirements.clone().all(|requirement| requirement.on < requirement.operation) {
        return None;
    }
    let requirements: Vec<Requirement> = requirements.collect();
    let missing = unmet_requirements(count, &requirements);
    // For each operation that never happens, the first requirement on another one that never happens.
    let mut reason: Vec<Option<usize>> = vec![None; count];
    for (index, requirement) in requirements.iter().enumerate().rev() {
        if missing[requirement.on.0 as usize] > 0 {
            reason[requirement.operation.0 as usize] = Some(index);
        }
    }
    let mut path: Vec<usize> = Vec::new();
    let mut place_in_path: Vec<Option<usize>> = vec![None; count];
    let mut operation = missing.iter().position(|&count| count > 0)?;
    loop {
        if let Some(start) = place_in_path[operation] {
            return Some(path.split_off(start));
        }
        place_in_path[operation] = Some(path.len());
        let index = reason[operation]?;
        path.push(index);
        operation = requirements[index].on.0 as usize;
    }
}

/// How many requirements of each operation remain after operations that require nothing are removed until there are
/// none.
fn unmet_requirements(count: usize, requirements: &[Requirement]) -> Vec<u32> {
    let mut missing = vec![0; count];
    let mut required_by: Vec<(u32, u32)> = Vec::with_capacity(requirements.len());
    for requirement in requirements {
        missing[requirement.operation.0 as usize] += 1;
        required_by.push((requirement.on.0, requirement.operation.0));
    }
    required_by.sort_unstable();
    let mut free: Vec<u32> = (0..count as u32).filter(|&id| missing[id as usize] == 0).collect();
    while let Some(id) = free.pop() {
        let first = required_by.partition_point(|&(on, _)| on < id);
        for &(_, waiting) in required_by[first..].iter().take_while(|&&(on, _)| on == id) {
            missing[waiting as usize] -= 1;
            if missing[waiting as usize] == 0 {
                free.push(waiting);
            }
        }
    }
    missing
}
