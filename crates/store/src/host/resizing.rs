//! CLUSTER GROW and CLUSTER SHRINK: more or fewer servers than the records need.

use programs::linear_hash::Bounds;

use super::{Host, time};
use crate::resp::{Arguments, Reply, number};

/// A command to resize the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resize {
    Grow(u32),
    Shrink(u32),
}

impl Resize {
    fn read(arguments: Arguments<'_>) -> Option<Resize> {
        let by = match arguments.len() {
            2 => Some(1),
            3 => number::integer(arguments.get(2)),
            _ => None,
        };
        let by = u32::try_from(by?).ok()?;
        match arguments.get(1) {
            name if name.eq_ignore_ascii_case(b"grow") => Some(Resize::Grow(by)),
            name if name.eq_ignore_ascii_case(b"shrink") => Some(Resize::Shrink(by)),
            _ => None,
        }
    }
}

/// Whether a request is one of these commands.
pub(super) fn is_asked_for(arguments: Arguments<'_>) -> bool {
    Resize::read(arguments).is_some()
}

impl Host {
    /// Has the file, which has `records` records, grow or shrink, and replies how many servers there will be. All servers were just asked for their
    /// levels.
    pub(super) fn resize(&mut self, arguments: Arguments<'_>, records: u64, reply: &mut Reply) {
        let Some(resize) = Resize::read(arguments) else { return };
        match self.bounds_for(resize, records) {
            Ok((servers, bounds)) => {
                let now = time(&self.node.borrow());
                self.member.resize(now, bounds, &mut self.outputs);
                reply.count(servers.into());
            }
            Err(refusal) => reply.error(&refusal),
        }
    }

    fn bounds_for(&self, resize: Resize, records: u64) -> Result<(u32, Bounds), String> {
        let servers = self.member.image().extent().buckets();
        match resize {
            // As many as the records need.
            Resize::Grow(0) | Resize::Shrink(0) => Ok((servers, Bounds::default())),
            Resize::Grow(by) => {
                let (most, members) =
                    (self.member.most_servers(), self.member.hosts().count() - self.member.hosts_away().count());
                let least = servers.saturating_add(by);
                if least > most {
                    return Err(format!(
                        "ERR no room for {least} servers: {members} members host at most {most} together; more members have to join"
                    ));
                }
                Ok((least, Bounds { least, most: u32::MAX }))
            }
            Resize::Shrink(by) => {
                let most = servers.saturating_sub(by);
                let capacity = self.member.capacity();
                if most == 0 {
                    return Err(format!("ERR there are {servers} servers, and one has to remain"));
                }
                if records > capacity.saturating_mul(most.into()) {
                    return Err(format!(
                        "ERR no room for {records} records on {most} servers, each of which has room for {capacity}"
                    ));
                }
                Ok((most, Bounds { least: 1, most }))
            }
        }
    }
}
