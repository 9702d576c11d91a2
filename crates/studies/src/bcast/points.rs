//! A point of each figure, and the command or program that gives it.

use super::Results;
use super::job::{Job, System};
use super::measures::latency;
use super::simulate::Measured;
use crate::MissingAnswer;
use crate::points::{By, Point};

/// Picoseconds in a microsecond.
const PICOSECONDS: f64 = 1e6;

/// A broadcast of so many bytes to so many nodes, and a message of the same size back, 500 times: the mean without the quickest and the
/// slowest tenth.
macro_rules! broadcast_and_reply {
    ($bytes:literal, $nodes:literal) => {
        concat!(
            "import maquette as mq\n\n",
            "async def broadcast_and_reply(endpoint: mq.Endpoint) -> list[int]:\n",
            "    times = []\n",
            "    for _ in range(500):\n",
            "        start = endpoint.now_ps\n",
            "        if endpoint.rank == 0:\n",
            "            await endpoint.multicast(size=",
            $bytes,
            ")\n",
            "            await endpoint.receive(1)\n",
            "        else:\n",
            "            await endpoint.receive_multicast(0)\n",
            "            if endpoint.rank == 1:\n",
            "                await endpoint.send(0, size=",
            $bytes,
            ")\n",
            "        times.append(endpoint.now_ps - start)\n",
            "    return sorted(times)[50:450]\n\n",
            "middle = mq.run(broadcast_and_reply, \"dp-smp-8\", ranks=",
            $nodes,
            ").returned[0]\n",
            "print(sum(middle) // len(middle))\n",
        )
    };
}

const fn replied(
    place: &'static str,
    what: &'static str,
    text: &'static str,
    jobs: fn() -> Vec<Job>,
    value: fn(&Results) -> Result<f64, MissingAnswer>,
) -> Point<Job, Measured> {
    Point { place, what, by: By::Python { text }, jobs, value, apart: 1e-9 }
}

const fn broadcast(nodes: u32, bytes: u32) -> Job {
    Job::Broadcast { system: System::PushPull, nodes, bytes }
}

fn picoseconds(runs: &Results, nodes: u32, bytes: u32) -> Result<f64, MissingAnswer> {
    Ok(latency(runs, System::PushPull, nodes, bytes)? * PICOSECONDS)
}

const PING_PONG: Job = Job::PingPong { bytes: 8 };

/// The points.
pub const POINTS: [Point<Job, Measured>; 4] = [
    Point {
        place: "section 2",
        what: "time of 500 round trips of 8 B [ps]",
        by: By::Commands {
            lines: &["maquette run ping-pong --machine dp-smp-8 --nodes 2 --bytes 8 --rounds 500 --json"],
            reads: "/makespan_ps",
        },
        jobs: || vec![PING_PONG],
        value: |runs| Ok(500.0 * runs.get(&PING_PONG)?.time.picoseconds() as f64),
        // The study leaves out the quickest and the slowest tenth.
        apart: 0.03,
    },
    replied(
        "figure 3",
        "time of a push-pull broadcast of 1 KiB to four nodes, and a reply [ps]",
        broadcast_and_reply!(1024, 4),
        || vec![broadcast(4, 1024)],
        |runs| picoseconds(runs, 4, 1024),
    ),
    replied(
        "figure 4",
        "time of a push-pull broadcast of 256 B to eight nodes, and a reply [ps]",
        broadcast_and_reply!(256, 8),
        || vec![broadcast(8, 256)],
        |runs| picoseconds(runs, 8, 256),
    ),
    replied(
        "figure 5",
        "time of a push-pull broadcast of 4 KiB to eight nodes, and a reply [ps]",
        broadcast_and_reply!(4096, 8),
        || vec![broadcast(8, 4096)],
        |runs| picoseconds(runs, 8, 4096),
    ),
];
