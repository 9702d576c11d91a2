//! Communication that was written down elsewhere: its formats, and the programs that play it.
//!
//! [`goal`] has schedules in LogGOPSim's language, as text and in its binary form; [`trace`] the calls of MPI programs,
//! as several tools record them. Each is checked when it is read, and then runs as a program on any world.

pub mod goal;
pub mod trace;
