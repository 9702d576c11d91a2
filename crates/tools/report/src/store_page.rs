//! The live page of a pool of stores: its markup, and the script that fills it.

use super::Page;
use super::markup::{Element, element};

/// The script. It fetches `state.json`, whose fields are those of the store's `PoolView`.
pub const SCRIPT: &str = include_str!("store_page.js");
/// Columns of which the cells are no numbers.
const TEXTS: [&str; 10] =
    ["Slots", "Member", "Load", "Address", "State", "Members", "Leader", "Follower", "May be lost", "Rebuilding"];
/// Where the page looks for it.
const SCRIPT_PATH: &str = "page.js";

/// The page, without any figures yet.
pub fn html() -> String {
    let waits = "This page needs JavaScript, which is switched off in your browser. The same figures are on /metrics.";
    let status = element("p").attribute("id", "status").attribute("role", "status").text("Loading ...");
    let sections = vec![
        status,
        element("noscript").child(element("p").text(waits)),
        tally(),
        section("slots", "Slots").child(slots()),
        section("rate", "Requests a second").child(rate()),
        section("servers", "Servers").child(table(
            "server-rows",
            "The servers of the table, in the order of their slots",
            &[
                "Server",
                "Slots",
                "Member",
                "Level",
                "Records",
                "Load",
                "Memory",
                "Requests/s",
                "Forwards",
                "Splits",
                "Merges",
                "State",
            ],
        )),
        section("groups", "Groups").attribute("hidden", "").child(table(
            "group-rows",
            "The parity groups, as reported by the parity members that lead them",
            &["Members", "Leader", "Follower", "May be lost", "Spares", "Rebuilding"],
        )),
        section("members", "Members").child(table(
            "member-rows",
            "The members of the pool",
            &["Member", "Address", "Servers", "Clients", "Requests/s", "Errors", "Process", "State"],
        )),
    ];
    let lead = "A pool of stores, as seen by one of its members. The page refreshes once a second.";
    let foot = "The same figures for programs: /metrics for Prometheus, /state.json, and /healthz.";
    let page = Page { title: "Maquette store".to_owned(), lead: lead.to_owned(), sections, foot: foot.to_owned() };
    page.live_html(SCRIPT_PATH, include_str!("store_page.css"))
}

fn section(id: &str, title: &str) -> Element {
    let heading = format!("{id}-title");
    let title = element("h2").attribute("id", &heading).text(title);
    element("section").attribute("id", id).attribute("aria-labelledby", &heading).child(title)
}

/// The figures of the whole pool.
fn tally() -> Element {
    let names = [
        ("total-servers", "servers"),
        ("total-records", "records"),
        ("total-memory", "in memory"),
        ("total-members", "members"),
        ("total-clients", "clients"),
        ("total-rate", "requests/s"),
        ("total-forwards", "forwards/s"),
        ("total-splits", "splits"),
        ("total-merges", "merges"),
        ("token", "has the token"),
    ];
    let items = names
        .into_iter()
        .map(|(id, name)| element("li").child(element("b").attribute("id", id).text("-")).text(format!(" {name}")));
    element("ul").class("tally").children(items)
}

/// All slots as one stripe, divided among the servers.
fn slots() -> Element {
    let stripe = element("div").class("parts").attribute("id", "map").attribute("role", "img");
    let stripe = stripe.attribute("aria-label", "No server is known yet");
    let caption = "From slot 0 to slot 16,383: each server has a range, coloured by its member. A split halves it.";
    let legend = element("ul").class("legend").attribute("id", "map-legend");
    element("figure").child(stripe).child(legend).child(element("figcaption").text(caption))
}

/// The request rate of the last two minutes.
fn rate() -> Element {
    let line = element("polyline").class("line").attribute("id", "rate-line").attribute("points", "");
    let base = element("line")
        .class("baseline")
        .attribute("x1", 0)
        .attribute("x2", 600)
        .attribute("y1", 100)
        .attribute("y2", 100);
    let picture = element("svg")
        .class("s0")
        .attribute("viewBox", "0 0 600 104")
        .attribute("preserveAspectRatio", "none")
        .attribute("id", "rate-picture")
        .attribute("role", "img")
        .attribute("aria-label", "No request yet")
        .child(base)
        .child(line);
    let caption = element("figcaption").attribute("id", "rate-caption").text("All members over the last two minutes.");
    element("figure").child(picture).child(caption)
}

fn table(id: &str, caption: &str, columns: &[&str]) -> Element {
    let head = columns.iter().map(|name| {
        let cell = element("th").attribute("scope", "col").text(*name);
        if TEXTS.contains(name) { cell } else { cell.class("number") }
    });
    let head = element("thead").child(element("tr").children(head));
    let body = element("tbody").attribute("id", id);
    let table = element("table").child(element("caption").text(caption)).child(head).child(body);
    element("div")
        .class("wide")
        .attribute("tabindex", 0)
        .attribute("role", "region")
        .attribute("aria-label", caption)
        .child(table)
}
