//! Maps of the networks with their hot spots.

use machines::model::FlitNetwork;

use super::job::{Load, MocRun, Platform};
use super::simulate::{Setup, machine, network};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{ChannelShading, Element, Measure, NetworkMap, element, fixed, heat_scale};

/// The study. No claim depends on it.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "map",
    title: "hot spots of the networks",
    claims: &[],
    jobs,
    judge: |_, _| Ok(Findings::words("")),
    draw,
};

/// The mapped runs, and the heading of each map.
const MAPPED: [(MocRun, &str); 4] = [
    (MocRun::new(Platform::Basic, Load::UnequalDist, 128), "MoC(3,2), unequal-dist, 128 B, 1 buffer"),
    (
        MocRun::new(Platform::Basic, Load::UnequalDist, 128).with_buffers(64),
        "MoC(3,2), unequal-dist, 128 B, 64 buffers",
    ),
    (MocRun::new(Platform::Basic, Load::UnequalDist, 2048), "MoC(3,2), unequal-dist, 2048 B, 1 buffer"),
    (MocRun::new(Platform::Clustered, Load::UnequalDist, 2048), "MoC(3,1), unequal-dist, 2048 B, 1 buffer"),
];

fn jobs() -> Vec<MocRun> {
    MAPPED.map(|(job, _)| job).to_vec()
}

fn network_of(job: &MocRun) -> Result<FlitNetwork, MissingAnswer> {
    let network = machine(job, &Setup::default()).and_then(|machine| network(&machine).cloned());
    network.map_err(|why| MissingAnswer::Failed(job.to_string(), why))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut networks = Vec::new();
    for (job, _) in &MAPPED {
        networks.push((network_of(job)?, &runs.get(job)?.answer));
    }
    let peak = |of: &dyn Fn(usize) -> f64| (0..networks.len()).map(of).fold(0.0, f64::max);
    let hottest_channel = peak(&|index| NetworkMap::peak_channel(&networks[index].0, networks[index].1));
    let hottest_router = peak(&|index| NetworkMap::peak_router(networks[index].1));
    let maps = networks.iter().zip(MAPPED).map(|((network, answer), (_, title))| {
        let map = NetworkMap::of(network, answer, ChannelShading::Blocked, &[]);
        map.titled(title).up_to(hottest_channel, hottest_router).draw()
    });
    let percent = |share: f64| format!("{} %", fixed(share * 100.0, 1));
    let scales: Vec<Element> = vec![
        heat_scale("channel blocked, share of the run", hottest_channel, percent),
        heat_scale("router, mean blocking of a header", hottest_router, |value| Measure::Microseconds.format(value)),
    ];
    Ok(Some(Drawing {
        legend: Some(element("div").children(scales)),
        panels: maps.collect(),
        caption: "Squares are routers, numbered as in the mesh; dots are nodes; lines are channels, one each way, each to \
                  the right of its direction. A channel is as hot as the share of the run for which a packet held it and \
                  no flit moved, a node as its channel into the network, a router as the mean time that a header was \
                  blocked there. All four maps have one scale. Hover over anything for its figures."
            .to_string(),
    }))
}
