//! Messages on MPI compared with a C program on the same library: half the round trip of 8 B, and the bandwidth at 1
//! MiB.
//!
//! `cargo bench -p maquette-real-worlds --bench mpi`. It runs itself and the compiled C program in turn, under the
//! mpiexec of the Python environment of the working tree, or the one named by `MPIEXEC`; the best of several turns
//! counts, since other load can only slow them down.

use std::path::{Path, PathBuf};
use std::process::Command;

use endpoint::{Endpoint, Message, Program, Result};
use maquette_real_worlds::MpiWorld;
use quantities::Rank;

/// How many times each is run.
const TURNS: u32 = 7;
/// Bytes of a message, round trips per batch, and batches.
const CASES: [[usize; 3]; 2] = [[8, 10_000, 20], [1 << 20, 200, 20]];

/// Messages back and forth; prints half the round trip of the best batch. [ns]
struct PingPong {
    bytes: usize,
    trips: usize,
    batches: usize,
}

impl Program for PingPong {
    type Output = f64;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<f64> {
        let (me, other) = (endpoint.rank(), Rank(1 - endpoint.rank().0));
        let mut message = Message::from(vec![1; self.bytes]);
        let mut best = f64::INFINITY;
        for _ in 0..self.batches {
            let start = endpoint.now();
            for _ in 0..self.trips {
                if me == Rank(0) {
                    endpoint.send(other, message.clone()).await?;
                }
                message = endpoint.receive(other).await?;
                if me == Rank(1) {
                    endpoint.send(other, message.clone()).await?;
                }
            }
            let took = endpoint.now().since(start).picoseconds() as f64 / 1_000.0;
            best = best.min(took / self.trips as f64 / 2.0);
        }
        Ok(best)
    }
}

fn as_a_rank([bytes, trips, batches]: [usize; 3]) {
    let mut world = MpiWorld::begin(None).unwrap();
    let half = world.run(&PingPong { bytes, trips, batches }).unwrap();
    if world.rank() == Rank(0) {
        println!("{half:.1}");
    }
    world.end().unwrap();
}

/// The number printed by a program of two ranks. [ns]
fn measured(mpiexec: &Path, program: &Path, arguments: &[String]) -> f64 {
    let output = Command::new(mpiexec).args(["-n", "2"]).arg(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Compiles the C program against the library of `mpiexec`; none if there is no compiler.
fn compiled(mpiexec: &Path) -> Option<PathBuf> {
    let prefix = mpiexec.parent()?.parent()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ping_pong.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ping_pong");
    let library = prefix.join("lib");
    let done = Command::new("gcc")
        .args(["-O2", "-I"])
        .arg(prefix.join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg(library.join("libmpi_abi.so.1"))
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .status();
    done.is_ok_and(|status| status.success()).then_some(program)
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    if let Ok(case) = arguments.try_into() {
        return as_a_rank(case);
    }
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../.venv/bin/mpiexec");
    let mpiexec = std::env::var_os("MPIEXEC").map_or(own, PathBuf::from);
    let Some(c_program) = mpiexec.canonicalize().ok().and_then(|mpiexec| compiled(&mpiexec)) else {
        println!("skipped: this needs {}, which `pip install mpich` brings, and gcc", mpiexec.display());
        return;
    };
    let this = std::env::current_exe().unwrap();
    for case in CASES {
        let arguments = case.map(|number| number.to_string());
        let with = |way: &str| [&arguments[..], &[way.to_owned()]].concat();
        let (mut ours, mut blocking, mut polled) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..TURNS {
            blocking = blocking.min(measured(&mpiexec, &c_program, &with("blocking")));
            polled = polled.min(measured(&mpiexec, &c_program, &with("polled")));
            ours = ours.min(measured(&mpiexec, &this, &arguments));
        }
        let bytes = case[0];
        println!("{bytes} B: half a round trip {ours:.0} ns, {:.2} GB/s", bytes as f64 / ours);
        for (way, theirs) in [("MPI_Send and MPI_Recv", blocking), ("requests, polled", polled)] {
            let (time, bandwidth) = (ours / theirs, theirs / ours);
            println!(
                "    a C program by {way}: {theirs:.0} ns; we take {time:.2} of its time, at {bandwidth:.2} of its bandwidth"
            );
        }
    }
}
