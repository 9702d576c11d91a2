//! A run as JSON.

use machines::model::{ChannelEnd, FlitNetwork};
use quantities::Duration;
use report::run::MessageTimes;
use serde_json::{Map, Value, json};
use virtual_worlds::answer::{Answer, ChannelStatistics, EthernetStatistics, RouterStatistics, Unreceived};
use virtual_worlds::critical_path::{Cause, CriticalPath, Parts, Step};

use crate::{FinishedJob, FinishedRun, NOT_RECEIVED};

impl FinishedRun {
    /// The run as a JSON object: all counters, with every channel and router, and what was run. All times in
    /// picoseconds.
    pub fn json(&self) -> Value {
        let answer = &self.answer;
        let mut object = json!({
            "program": self.program,
            "parameters": self.provenance.parameters(),
            "machine": self.machine.name,
            "nodes": answer.finish.len(),
            "seed": self.provenance.seed(),
            "makespan_ps": answer.makespan().picoseconds(),
            "messages": answer.messages,
            "finish_ps": answer.finish.iter().map(|time| time.picoseconds()).collect::<Vec<u64>>(),
            "ranks": answer.ranks.iter().map(|rank| json!({
                "packets": rank.packets,
                "send_away_ps": rank.send_away.picoseconds(),
                "receive_idle_ps": rank.receive_idle.picoseconds(),
            })).collect::<Vec<Value>>(),
        });
        if !answer.nodes.is_empty() {
            object["node_of_rank"] = answer.nodes.iter().map(|node| node.0).collect();
        }
        object[NOT_RECEIVED] = answer.unreceived.iter().map(unreceived).collect();
        self.findings.iter().for_each(|finding| object[finding.key] = finding.value.clone());
        if !self.jobs.is_empty() {
            object["jobs"] = self.jobs.iter().map(job).collect();
        }
        if let Some(background) = &answer.background {
            object["background"] = json!({
                "offered": background.offered,
                "delivered": background.delivered,
                "mean_latency_ps": background.mean_latency.map(Duration::picoseconds),
            });
        }
        if let Some(ethernet) = &answer.ethernet {
            object["frames"] = frames(ethernet);
        }
        if let Some(network) = self.machine.network() {
            object["packets"] = json!(answer.packets);
            object["flit_hops"] = json!(answer.flit_hops);
            object["mean_blocking_ps"] = json!(answer.mean_blocking().picoseconds());
            object["channels"] = answer.channels.iter().enumerate().map(|it| channel(network, answer, it)).collect();
            object["routers"] = answer.routers.iter().enumerate().map(|it| router(network, it)).collect();
        }
        if let Some(path) = &self.critical_path {
            object["critical_path"] = critical_path(path);
        }
        if let Some(timeline) = self.answer.timeline.as_ref().filter(|_| self.critical_path.is_some()) {
            object["message_times"] = message_times(&MessageTimes::of(&timeline.messages));
        }
        self.provenance.added_to(object)
    }
}

fn job(job: &FinishedJob) -> Value {
    let FinishedJob { name, program, notes, findings, nodes, start, finish, makespan, alone } = job;
    let mut object = json!({
        "name": name,
        "program": program,
        "parameters": notes.parameters,
        "nodes": nodes,
        "start_ps": start.picoseconds(),
        "makespan_ps": makespan.picoseconds(),
        "finish_ps": finish.iter().map(|time| time.picoseconds()).collect::<Vec<u64>>(),
        "alone_ps": alone.map(Duration::picoseconds),
        "slowdown": job.slowdown(),
    });
    findings.iter().for_each(|finding| object[finding.key] = finding.value.clone());
    object
}

fn critical_path(path: &CriticalPath) -> Value {
    let parts =
        |parts: &Parts| parts.each().map(|(part, length)| (format!("{}_ps", part.name()), json!(length.picoseconds())));
    let step = |step: &Step| {
        let mut object = json!({
            "rank": step.rank.0,
            "cause": step.cause.name(),
            "start_ps": step.start.picoseconds(),
            "end_ps": step.end.picoseconds(),
        });
        if let Cause::Message { from, to, size, .. } = step.cause {
            (object["from"], object["to"], object["bytes"]) = (json!(from.0), json!(to.0), json!(size.0));
        }
        parts(&step.parts).into_iter().for_each(|(name, length)| object[name] = length);
        object
    };
    let mut object: Value = parts(&path.parts()).into_iter().collect::<Map<String, Value>>().into();
    object["steps"] = path.steps.iter().map(step).collect();
    object
}

fn message_times(times: &MessageTimes) -> Value {
    let mut object = json!({"count": times.count(), "mean_ps": times.mean().picoseconds()});
    for (percent, time) in times.percentiles() {
        object[format!("p{percent}_ps")] = json!(time.picoseconds());
    }
    object
}

fn unreceived(Unreceived { from, to, messages }: &Unreceived) -> Value {
    json!({"from": from.0, "to": to.0, "messages": messages})
}

fn frames(ethernet: &EthernetStatistics) -> Value {
    let busy = |[up, down]: &[Duration; 2]| json!([up.picoseconds(), down.picoseconds()]);
    let dropped = &ethernet.dropped;
    let mut object = json!({
        "sent": ethernet.sent,
        "received": ethernet.received,
        "dropped": {"at_switch": dropped.at_switch, "lost": dropped.lost, "at_ring": dropped.at_ring},
        "most_queued_bytes": ethernet.most_queued.0,
        "busy_ps": ethernet.busy.iter().map(busy).collect::<Vec<Value>>(),
    });
    if let Some(trunk) = &ethernet.trunk_busy {
        object["trunk_busy_ps"] = busy(trunk);
    }
    object
}

fn channel(network: &FlitNetwork, answer: &Answer, (id, channel): (usize, &ChannelStatistics)) -> Value {
    let makespan = answer.makespan().picoseconds().max(1);
    json!({
        "id": id,
        "from": place(network, network.channels[id].from),
        "to": place(network, network.channels[id].to),
        "busy_ps": channel.busy.picoseconds(),
        "blocked_ps": channel.blocked.picoseconds(),
        "bytes": channel.bytes.0,
        "packets": channel.packets,
        "mean_occupancy_flits": channel.occupancy as f64 / makespan as f64,
    })
}

fn router(network: &FlitNetwork, (id, router): (usize, &RouterStatistics)) -> Value {
    json!({
        "id": id,
        "name": network.routers[id].name,
        "headers": router.headers,
        "blocking_ps": router.blocking.picoseconds(),
    })
}

/// The name of an end of a channel for people.
pub fn place(network: &FlitNetwork, place: ChannelEnd) -> String {
    match place {
        ChannelEnd::Node(node) => format!("node {}", node.0),
        ChannelEnd::Router(router) => network.routers[router.0 as usize].name.clone(),
    }
}
