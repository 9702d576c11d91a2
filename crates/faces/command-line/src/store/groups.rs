//! The groups of a pool with parity, as `maquette store status` shows them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use ::store::client::{Client, Error, Options};
use report::terminal::{Side, columns};
use serde_json::{Value as Json, json};

use super::status::{field, parts};

/// What members say of their groups.
#[derive(Default)]
pub(super) struct Groups {
    /// All members, by their names.
    members: BTreeMap<String, Known>,
    /// What INFO says of each parity member that leads.
    leads: Vec<(String, String)>,
    /// Members that have not answered, and why.
    pub(super) failures: Vec<Error>,
}

/// A member, as another one knows it.
struct Known {
    address: SocketAddr,
    role: String,
}

/// A group, as the parity member says that leads it.
struct Group {
    members: Vec<Seat>,
    lead: String,
    follower: Option<String>,
    is_backed: bool,
    survives: u64,
    promised: u64,
    spares: u64,
    rebuilding: Option<Rebuilding>,
}

/// A member of a group that hosts servers.
struct Seat {
    member: String,
    is_covered: bool,
    leaves: bool,
}

struct Rebuilding {
    /// None, where the parity of the one that follows is made.
    member: Option<String>,
    to: String,
    done: u64,
    stripes: u64,
}

impl Groups {
    /// Asks who the members are, and then all that keep parity. Nothing, where a pool has no parity.
    pub(super) fn ask(client: &mut Client, options: &Options) -> Result<Groups, Error> {
        let info = client.ask(&[b"INFO", b"parity"])?.text();
        let lines = info.lines().filter(|line| line.starts_with("parity_pool"));
        let members = lines.filter_map(|line| Known::read(line.split_once(':')?.1)).collect();
        let mut groups = Groups { members, ..Groups::default() };
        for (name, member) in groups.members.iter().filter(|(_, member)| member.role == "parity") {
            let answer = Client::open(member.address, options).and_then(|mut it| it.ask(&[b"INFO", b"parity"]));
            match answer {
                Ok(info) => groups.leads.push((name.clone(), info.text())),
                Err(error) => groups.failures.push(error),
            }
        }
        groups.leads.retain(|(_, info)| field(info, "parity_leads") == Some(1) && info.contains("parity_column0"));
        Ok(groups)
    }

    /// Whether the pool has parity.
    pub(super) fn is_there(&self) -> bool {
        !self.members.is_empty()
    }

    fn groups(&self) -> impl Iterator<Item = Group> {
        self.leads.iter().map(|(lead, info)| Group::read(lead, info))
    }

    /// Where a member is; its name, if that is not known any more.
    fn address(&self, member: &str) -> String {
        self.members.get(member).map_or_else(|| member.to_owned(), |known| known.address.to_string())
    }

    /// Members that host servers, or may, and of which nobody is known to keep parity.
    fn without(&self) -> Vec<String> {
        let covered: Vec<Seat> = self.groups().flat_map(|group| group.members).collect();
        let is_in_none = |name: &str| covered.iter().all(|seat| seat.member != name);
        let data = self.members.iter().filter(|(name, member)| member.role == "data" && is_in_none(name));
        data.map(|(_, member)| member.address.to_string()).collect()
    }

    pub(super) fn json(&self) -> Json {
        let address = |member: &String| self.address(member);
        let of_group = |group: Group| {
            let members = group.members.iter().map(|seat| {
                let is_rebuilt = group.rebuilding.as_ref().is_some_and(|it| it.member.as_ref() == Some(&seat.member));
                let address = address(&seat.member);
                json!({"address": address, "covered": seat.is_covered, "rebuilding": is_rebuilt, "leaving": seat.leaves})
            });
            let rebuilding = group.rebuilding.as_ref().map(|it| {
                let Rebuilding { member, to, done, stripes } = it;
                json!({"member": member.as_ref().map(address), "to": address(to), "done": done, "stripes": stripes})
            });
            json!({
                "members": members.collect::<Vec<Json>>(),
                "lead": address(&group.lead),
                "follower": group.follower.as_ref().map(address),
                "follower_has_all": group.is_backed,
                "survives": group.survives,
                "promised": group.promised,
                "whole": group.survives == group.promised,
                "rebuilding": rebuilding,
                "spares": group.spares,
            })
        };
        json!({"groups": self.groups().map(of_group).collect::<Vec<Json>>(), "without_parity": self.without()})
    }

    pub(super) fn text(&self) -> String {
        let head = ["group", "members", "parity", "may be lost", "spares", "rebuilding"].map(str::to_owned);
        let rows = self.groups().zip(1..).map(|(group, number)| self.row(number, &group));
        let rows: Vec<[String; 6]> = [head].into_iter().chain(rows).collect();
        let [left, right] = [Side::Left, Side::Right];
        let mut text = columns([right, left, left, left, right, left], &rows);
        let without = self.without();
        if !without.is_empty() {
            text.push_str(&format!("no reachable member keeps parity of {}\n", without.join(" and ")));
        }
        text
    }

    fn row(&self, number: usize, group: &Group) -> [String; 6] {
        let members = group.members.iter().map(|seat| {
            let note = match (seat.leaves, seat.is_covered) {
                (true, _) => " (leaves)",
                (false, false) => " (not covered yet)",
                (false, true) => "",
            };
            format!("{}{note}", self.address(&seat.member))
        });
        let follower = group.follower.as_ref().map(|follower| {
            let note = if group.is_backed { "follows" } else { "follows, incomplete" };
            format!(", {} ({note})", self.address(follower))
        });
        let note = if group.survives == group.promised { ", whole" } else { "" };
        let rebuilding = group.rebuilding.as_ref().map_or_else(
            || "-".to_owned(),
            |it| {
                let what = it.member.as_ref().map_or_else(|| "parity".to_owned(), |member| self.address(member));
                format!("{what} on {}: {} of {} stripes", self.address(&it.to), it.done, it.stripes)
            },
        );
        [
            number.to_string(),
            members.collect::<Vec<String>>().join(", "),
            format!("{} (leads){}", self.address(&group.lead), follower.unwrap_or_default()),
            format!("{} of {}{note}", group.survives, group.promised),
            group.spares.to_string(),
            rebuilding,
        ]
    }
}

/// The lines of INFO whose names begin so.
fn lines<'a>(info: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = info.lines().filter_map(|line| line.split_once(':'));
    lines.filter(move |(own, _)| own.starts_with(name)).map(|(_, rest)| rest)
}

impl Known {
    fn read(line: &str) -> Option<(String, Known)> {
        let of = parts(line);
        let known = Known { address: of.get("address")?.parse().ok()?, role: of.get("role")?.to_string() };
        Some((of.get("member")?.to_string(), known))
    }
}

impl Group {
    fn read(lead: &str, info: &str) -> Group {
        let number = |name: &str| field(info, name).unwrap_or(0);
        let seat = |line| {
            let of = parts(line);
            let is = |name: &str| of.get(name) == Some(&"1");
            Some(Seat { member: of.get("member")?.to_string(), is_covered: is("covered"), leaves: is("leaving") })
        };
        let follower = lines(info, "parity_other").next().filter(|other| !other.is_empty());
        Group {
            members: lines(info, "parity_column").filter_map(seat).collect(),
            lead: lead.to_owned(),
            follower: follower.map(str::to_owned),
            is_backed: number("parity_backed") == 1,
            survives: number("parity_survives"),
            promised: number("parity_promised"),
            spares: number("parity_spares"),
            rebuilding: lines(info, "parity_rebuilding").find_map(Rebuilding::read),
        }
    }
}

impl Rebuilding {
    fn read(line: &str) -> Option<Rebuilding> {
        let of = parts(line);
        let member = of.get("member").filter(|member| !member.is_empty());
        Some(Rebuilding {
            member: member.map(|member| (*member).to_owned()),
            to: of.get("to")?.to_string(),
            done: of.get("done")?.parse().ok()?,
            stripes: of.get("stripes")?.parse().ok()?,
        })
    }
}
