//! The page of a machine: what it is, and a map of it.

use machines::model::Machine;
use virtual_worlds::answer::{Answer, ChannelStatistics, RouterStatistics};
use virtual_worlds::sparse::Sparse;

use super::markup::element;
use super::{ChannelShading, NetworkMap, Page, RegionMap};

/// The page of a machine, as a file.
pub fn machine_page(machine: &Machine) -> String {
    let mut figures = vec![(u64::from(machine.nodes), "nodes")];
    let mut sections = Vec::new();
    if let Some(network) = machine.network() {
        let (channels, routers) = (network.channels.len(), network.routers.len());
        figures.extend([(routers as u64, "routers"), (channels as u64, "channels")]);
        let answer = Answer {
            channels: Sparse::filled(ChannelStatistics::default(), channels),
            routers: Sparse::filled(RouterStatistics::default(), routers),
            ..Answer::default()
        };
        let scrolls = |map| element("div").class("scrolls").attribute("tabindex", "0").child(map);
        if NetworkMap::is_readable(network) {
            sections.push(scrolls(NetworkMap::of(network, &answer, ChannelShading::Nothing, &[]).draw()));
        } else {
            let regions = RegionMap::new(network, &answer, ChannelShading::Nothing, &[]);
            sections.push(if regions.is_readable() {
                scrolls(regions.draw())
            } else {
                element("figure").class("square").child(regions.matrix().draw())
            });
            sections.push(element("div").class("opened").children(regions.opened()));
        }
    }
    let figures = figures.into_iter().map(|(count, name)| {
        element("li")
            .child(element("b").child(element("data").attribute("value", count).text(count)))
            .text(format!(" {name}"))
    });
    sections.insert(0, element("ul").class("tally").children(figures));
    Page { title: machine.name.clone(), lead: machine.about.clone(), sections, foot: String::new() }.html()
}
