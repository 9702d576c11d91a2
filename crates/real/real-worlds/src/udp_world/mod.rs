//! A world of UDP sockets: real datagrams, all ranks in one thread.
//!
//! ```text
//!    program      of each rank
//!    Messengers   the same as on the simulated Ethernet
//!    Polled       waits for this rank's sockets, while other ranks continue
//!    UdpNetwork   sockets of the loopback interface, and a multicast group
//! ```
//!
//! Programs need not be able to move between threads, so all ranks share one: the rank whose sockets have something is
//! next. To run each rank as a process there is `maquette launch`.

mod polled;
mod ranks;

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use endpoint::{Error, Program, Result, Run, World};
use messaging::Parameters;

use crate::udp::receives_multicast;
use crate::{machine_time, real_parameters};

/// The interface that every machine has.
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// The most ranks of a world: each has two sockets.
const MOST_RANKS: u32 = 256;

/// A world of UDP sockets on this machine.
#[derive(Clone, Debug)]
pub struct UdpWorld {
    parameters: Parameters,
    group: Option<Ipv4Addr>,
    refused: Option<String>,
}

impl UdpWorld {
    /// A world whose ranks send messages with these parameters. If the machine forbids multicast, a broadcast is sent
    /// to one rank after another, and [`UdpWorld::no_multicast`] tells why.
    pub fn new(parameters: Parameters) -> UdpWorld {
        // Two worlds on one machine share a group only by chance, and then on different ports.
        let [_, _, high, low] = (machine_time() as u32).to_be_bytes();
        let group = Ipv4Addr::new(239, 255, high, low);
        let refused = receives_multicast(group, LOOPBACK).err().map(|error| error.to_string());
        UdpWorld { parameters, group: refused.is_none().then_some(group), refused }
    }

    /// The same world without multicast.
    pub fn without_multicast(self) -> UdpWorld {
        UdpWorld { group: None, ..self }
    }

    /// The system's error, if the machine forbids multicast.
    pub fn no_multicast(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Runs `program` on `ranks` ranks as long as `should_continue`, which is called at least every 50 ms, returns
    /// true.
    ///
    /// # Errors
    /// Those of [`World::run`]; [`Error::Stopped`] when `should_continue` returned false.
    pub fn run_while<P: Program>(
        &self,
        should_continue: &dyn Fn() -> bool,
        ranks: u32,
        program: &P,
    ) -> Result<Vec<Result<P::Output>>> {
        self.setting(ranks)?.run(program, Some(should_continue))
    }

    fn setting(&self, ranks: u32) -> Result<ranks::Setting> {
        if !(1..=MOST_RANKS).contains(&ranks) {
            return Err(Error::Unfit(format!("{ranks} ranks: allowed are 1 to {MOST_RANKS} in one process")));
        }
        let network = |error: std::io::Error| Error::Network(error.to_string());
        let own = |_| UdpSocket::bind((LOOPBACK, 0)).map_err(network);
        let sockets = (0..ranks).map(own).collect::<Result<Vec<UdpSocket>>>()?;
        // A port that nobody else uses.
        let port = UdpSocket::bind((LOOPBACK, 0)).and_then(|socket| socket.local_addr()).map_err(network)?.port();
        let group = self.group.map(|group| SocketAddrV4::new(group, port));
        Ok(ranks::Setting { parameters: self.parameters, sockets, group, interface: LOOPBACK })
    }
}

impl Default for UdpWorld {
    /// With [`real_parameters`].
    fn default() -> UdpWorld {
        UdpWorld::new(real_parameters(machine_time() as u32))
    }
}

impl World for UdpWorld {
    /// Nothing: the sockets are not observed.
    type Answer = ();

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output, ()> {
        Ok((self.setting(ranks)?.run(program, None)?, ()))
    }
}
