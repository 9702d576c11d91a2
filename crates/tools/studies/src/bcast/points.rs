//! A point of each figure, and the command or program that gives it.

use super::job::{BcastRun, System};
use super::simulate::BcastResult;
use crate::points::{By, Point, Value};

/// A broadcast of so many bytes to so many nodes, and a message of the same size back, 500 times: the mean without the
/// quickest and the slowest tenth.
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
    nodes: u32,
    bytes: u32,
) -> Point<BcastRun, BcastResult> {
    let job = BcastRun::Broadcast { system: System::PushPull, nodes, bytes };
    Point::by_python(place, what, text, Value::OfRun(job, |measured| measured.time.picoseconds() as f64))
}

/// The points.
pub const POINTS: [Point<BcastRun, BcastResult>; 4] = [
    Point {
        place: "section 2",
        what: "time of 500 round trips of 8 B [ps]",
        by: By::Commands {
            lines: &["maquette run ping-pong --machine dp-smp-8 --nodes 2 --bytes 8 --rounds 500 --json"],
            reads: "/makespan_ps",
        },
        value: Value::OfRun(BcastRun::PingPong { bytes: 8 }, |measured| 500.0 * measured.time.picoseconds() as f64),
        // The study leaves out the quickest and the slowest tenth.
        apart: 0.03,
    },
    replied(
        "figure 3",
        "time of a push-pull broadcast of 1 KiB to four nodes, and a reply [ps]",
        broadcast_and_reply!(1024, 4),
        4,
        1024,
    ),
    replied(
        "figure 4",
        "time of a push-pull broadcast of 256 B to eight nodes, and a reply [ps]",
        broadcast_and_reply!(256, 8),
        8,
        256,
    ),
    replied(
        "figure 5",
        "time of a push-pull broadcast of 4 KiB to eight nodes, and a reply [ps]",
        broadcast_and_reply!(4096, 8),
        8,
        4096,
    ),
];
