//! Shortest paths on any topology; of several channels as good, the one of the lowest number.

use super::Table;
use super::grid::NOWHERE;
use super::neighbours::Neighbours;
use crate::model::ChannelId;
use crate::topology::{Plan, ejection};

/// Works out the table for every router and destination.
pub(crate) fn table(plan: &Plan) -> Table {
    let neighbours = Neighbours::of(plan);
    let (routers, nodes) = (plan.routers.len(), plan.homes.len());
    let mut next = vec![NOWHERE; routers * nodes];
    for home in 0..routers {
        let residents: Vec<usize> = (0..nodes).filter(|&node| plan.homes[node].0 as usize == home).collect();
        if residents.is_empty() {
            continue;
        }
        let towards = towards(&neighbours, home);
        for (router, &channel) in towards.iter().enumerate() {
            for &node in &residents {
                next[router * nodes + node] = if router == home { ejection(node as u32) } else { channel };
            }
        }
    }
    Table::new(nodes as u32, next)
}

/// For every router, its channel on the way to router `home`.
fn towards(neighbours: &Neighbours, home: usize) -> Vec<ChannelId> {
    let mut distance = vec![u32::MAX; neighbours.routers()];
    distance[home] = 0;
    let mut reached = vec![home];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        next += 1;
        for &(_, from) in neighbours.into(router) {
            if distance[from] == u32::MAX {
                distance[from] = distance[router] + 1;
                reached.push(from);
            }
        }
    }
    let best = |router: usize| {
        let nearer = |to: usize| distance[to] < distance[router];
        neighbours.out(router).iter().find(|(_, to)| nearer(*to)).map_or(NOWHERE, |(channel, _)| *channel)
    };
    (0..neighbours.routers()).map(best).collect()
}
