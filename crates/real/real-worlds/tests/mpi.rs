//! The endpoint's conformance suite on MPI: this test starts itself under an mpiexec, once for each number of ranks.
//!
//! The mpiexec is that of the Python environment of the working tree, where `make test` installs it, or the one named
//! by `MPIEXEC`.

use std::cell::RefCell;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use endpoint::{Endpoint, Error, Message, Program, Result, conformance};
use maquette_real_worlds::MpiWorld;
use quantities::{Bytes, Duration, Rank};

/// How long ranks of these checks wait for what never arrives: briefly, but longer than a rank may be without a
/// processor.
const PATIENCE: Duration = Duration::from_microseconds(500_000);

/// How long they wait for the others after each check.
const UNTIL_ALL_ARE_DONE: Duration = Duration::from_microseconds(20_000_000);

/// The world of MPI, of which this process runs one rank.
struct Processes<'a>(&'a RefCell<MpiWorld>);

impl conformance::Subject for Processes<'_> {
    fn run_locally<P: Program>(&self, ranks: u32, program: &P) -> Result<Vec<(Rank, Result<P::Output>)>> {
        let mut world = self.0.borrow_mut();
        assert_eq!(world.size(), ranks, "this world has as many ranks as processes");
        world.begin_time().expect("all ranks are there");
        world.set_patience(PATIENCE);
        let result = world.run(program);
        world.set_patience(UNTIL_ALL_ARE_DONE);
        let deadlock = if let Err(Error::Deadlock(text)) = &result { text.clone() } else { String::new() };
        let text = world.run_isolated(&ShareReports(&deadlock)).expect("all ranks are there");
        world.forget_messages();
        if text.is_empty() { Ok(vec![(world.rank(), result)]) } else { Err(Error::Deadlock(text)) }
    }
}

/// All ranks learn what each reports.
struct ShareReports<'a>(&'a str);

impl Program for ShareReports<'_> {
    type Output = String;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<String> {
        let text = |message: Message| String::from_utf8(message.content().unwrap().to_vec()).unwrap();
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::from(self.0.as_bytes().to_vec())).await?;
            return Ok(text(endpoint.receive(Rank(0)).await?));
        }
        let mut all = vec![self.0.to_owned()];
        for rank in (1..endpoint.size()).map(Rank) {
            all.push(text(endpoint.receive(rank).await?));
        }
        all.retain(|text| !text.is_empty());
        let all = all.join("; ");
        for rank in (1..endpoint.size()).map(Rank) {
            endpoint.send(rank, Message::from(all.clone().into_bytes())).await?;
        }
        Ok(all)
    }
}

/// The other ranks send rank 0 many messages before it receives any: small ones, more than MPI may still hold after
/// their sends, and large ones among them.
struct Flood;

impl Flood {
    const MESSAGES: usize = 100;
    const COMPUTES: Duration = Duration::from_microseconds(5_000);

    /// The message that a rank sends at this place; every third is only a size.
    fn message(from: Rank, place: usize) -> Message {
        let length = if place % 25 == 7 { 20_000 + place } else { 10 * place };
        match place % 3 {
            0 => Message::of_size(Bytes(length as u64)),
            _ => Message::from(vec![(31 * from.0 as usize + place) as u8; length]),
        }
    }
}

impl Program for Flood {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let me = endpoint.rank();
        if me > Rank(0) {
            for place in 0..Flood::MESSAGES {
                endpoint.send(Rank(0), Flood::message(me, place)).await?;
            }
            return Ok(());
        }
        endpoint.compute(Flood::COMPUTES).await;
        for from in (1..endpoint.size()).rev().map(Rank) {
            for place in 0..Flood::MESSAGES {
                assert_eq!(
                    endpoint.receive(from).await?,
                    Flood::message(from, place),
                    "message {place} of rank {from}"
                );
            }
        }
        Ok(())
    }
}

/// What a process started by mpiexec does.
fn conform() {
    let world = RefCell::new(MpiWorld::begin(None).unwrap());
    let ranks = world.borrow().size();
    world.borrow_mut().run(&Flood).expect("every message arrives, in its order");
    conformance::real_world_of(|_| Processes(&world), ranks);
    if ranks == 2 {
        conformance::a_program_that_announces_no_requests_has_none(&Processes(&world));
        conformance::a_request_that_nothing_ends_is_a_deadlock(&Processes(&world));
    }
    println!("rank {} of {ranks} conforms", world.borrow().rank());
    // Checks that end in a deadlock leave operations in progress, so that MPI can't end properly; and then mpiexec
    // needs time to pass on the output.
    world.borrow_mut().run_isolated(&ShareReports("")).expect("all ranks are there");
    world.borrow().abort(0);
}

/// Starts this test as `ranks` ranks, all of which have to conform.
fn start(mpiexec: &Path, ranks: u32) {
    let mut command = Command::new(mpiexec);
    command.args(["-n", &ranks.to_string()]).arg(env::current_exe().unwrap());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let conforming = stdout.matches(" conforms").count();
    assert!(status.success() && conforming == ranks as usize, "{status}\n{stdout}\n{stderr}");
    println!("{ranks} ranks conform");
}

fn main() {
    if mpi::started_processes().is_some() {
        return conform();
    }
    let of_the_working_tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv/bin/mpiexec");
    let mpiexec = env::var_os("MPIEXEC").map_or(of_the_working_tree, PathBuf::from);
    assert!(
        mpiexec.exists(),
        "there is no {}: `pip install mpich` brings it, MPIEXEC names another",
        mpiexec.display()
    );
    start(&mpiexec, 2);
    start(&mpiexec, 4);
}
