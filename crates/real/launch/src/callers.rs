//! Connections that have not yet shown that they come from a rank.
//!
//! Anybody on the network can connect. A caller that does not send the token of a rank in time is disconnected, and so
//! is the one that has waited longest when there are too many: strangers cost a bounded amount of memory and no thread,
//! and keep nobody out. A rank that was disconnected before it could send its token connects again.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::secret::Secret;
use super::wire::{Hello, LONGEST_HELLO, read_line};

/// How long a caller may take to identify itself.
const HELLO: Duration = Duration::from_secs(10);
/// How many unidentified callers are listened to at once.
const MOST_STRANGERS: usize = 256;
/// How many connections are accepted before other work is done.
const MOST_CALLS: usize = 2_048;

/// The control socket, and the callers connected to it.
#[derive(Debug)]
pub(super) struct Callers {
    listener: TcpListener,
    /// In the order in which they connected.
    strangers: VecDeque<Stranger>,
}

/// A caller that has not identified itself.
#[derive(Debug)]
struct Stranger {
    stream: TcpStream,
    until: Instant,
    /// What it has sent so far.
    received: Vec<u8>,
}

/// A rank that has connected.
#[derive(Debug)]
pub(super) struct Caller {
    /// What it has sent.
    pub(super) hello: Hello,
    /// What it has sent after that.
    pub(super) rest: Vec<u8>,
    /// Its connection, which blocks.
    pub(super) stream: TcpStream,
}

/// What is known about a stranger.
enum CallerIdentity {
    Rank(Box<Caller>),
    NotYet(Stranger),
    /// It has disconnected, or sent something that no rank sends.
    NoRank,
}

impl Callers {
    /// Listens at `control`.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn new(control: SocketAddr) -> io::Result<Callers> {
        let listener = TcpListener::bind(control)?;
        listener.set_nonblocking(true)?;
        Ok(Callers { listener, strangers: VecDeque::new() })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts waiting connections, and returns the ranks that have identified themselves.
    ///
    /// # Errors
    /// Errors of the system when it can't listen at all.
    pub(super) fn ranks(&mut self, now: Instant, secret: &Secret) -> io::Result<Vec<Caller>> {
        let mut ranks = Vec::new();
        for _ in 0..MOST_CALLS {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // A socket on which this fails is not read, and is disconnected in time.
                    let _ = stream.set_nonblocking(true);
                    self.strangers.push_back(Stranger { stream, until: now + HELLO, received: Vec::new() });
                    ranks.extend(self.make_room(secret));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                // There are too many open files, or too little memory: one stranger fewer may help.
                Err(error) => match self.strangers.pop_front() {
                    Some(_) => break,
                    None => return Err(error),
                },
            }
        }
        for _ in 0..self.strangers.len() {
            match self.strangers.pop_front().map(|stranger| stranger.listen(secret)) {
                Some(CallerIdentity::Rank(caller)) => ranks.push(*caller),
                Some(CallerIdentity::NotYet(stranger)) if now < stranger.until => self.strangers.push_back(stranger),
                _ => {}
            }
        }
        Ok(ranks)
    }

    /// Disconnects the stranger that has waited longest if there are too many, unless it has just shown that it is a
    /// rank.
    fn make_room(&mut self, secret: &Secret) -> Option<Caller> {
        if self.strangers.len() <= MOST_STRANGERS {
            return None;
        }
        match self.strangers.pop_front()?.listen(secret) {
            CallerIdentity::Rank(caller) => Some(*caller),
            CallerIdentity::NotYet(_) | CallerIdentity::NoRank => None,
        }
    }
}

impl Stranger {
    /// What is known about it after reading what it has sent by now.
    fn listen(mut self, secret: &Secret) -> CallerIdentity {
        let mut room = [0; LONGEST_HELLO as usize];
        loop {
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                return self.recognize(end + 1, secret);
            }
            let left = room.len() - self.received.len();
            match self.stream.read(&mut room[..left]) {
                Ok(0) => return CallerIdentity::NoRank,
                Ok(more) => self.received.extend_from_slice(&room[..more]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return CallerIdentity::NotYet(self),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return CallerIdentity::NoRank,
            }
        }
    }

    /// Identifies it by the first `length` bytes that it has sent.
    fn recognize(self, length: usize, secret: &Secret) -> CallerIdentity {
        let Stranger { stream, mut received, .. } = self;
        let rest = received.split_off(length);
        let hello = read_line::<Hello>(&mut &received[..], LONGEST_HELLO).ok().flatten();
        match hello.filter(|hello| secret.admits(hello)) {
            Some(hello) if stream.set_nonblocking(false).is_ok() => {
                CallerIdentity::Rank(Box::new(Caller { hello, rest, stream }))
            }
            _ => CallerIdentity::NoRank,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::wire::write_line;
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "sockets are waited for, and not for ever")]
    fn now() -> Instant {
        Instant::now()
    }

    fn callers() -> Callers {
        Callers::new("127.0.0.1:0".parse().unwrap()).unwrap()
    }

    fn call(callers: &Callers, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(callers.address().unwrap()).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    fn hello(secret: &Secret, rank: u32) -> Vec<u8> {
        let (token, address, machine) = (secret.token_of(rank), "127.0.0.1:7".parse().unwrap(), "local".to_owned());
        let mut line = Vec::new();
        write_line(&mut line, &Hello { token, rank, address, machine }).unwrap();
        line
    }

    /// Listens until a rank is recognized.
    fn recognized(callers: &mut Callers, secret: &Secret) -> Vec<Caller> {
        let until = now() + Duration::from_secs(20);
        loop {
            let ranks = callers.ranks(now(), secret).unwrap();
            if !ranks.is_empty() {
                return ranks;
            }
            assert!(now() < until, "nobody is recognized");
        }
    }

    #[test]
    fn a_rank_is_recognized_among_strangers_however_many_these_are() {
        let (mut callers, secret) = (callers(), Secret::random().unwrap());
        let mut silent = Vec::new();
        for _ in 0..2 * MOST_STRANGERS {
            silent.push(call(&callers, b""));
            assert!(callers.ranks(now(), &secret).unwrap().is_empty());
            assert!(callers.strangers.len() <= MOST_STRANGERS);
        }
        let _noisy = [&b"{}\n"[..], &[b'x'; 2_000], b"\n", b"\xff\n"].map(|bytes| call(&callers, bytes));
        let mut line = hello(&secret, 5);
        line.extend_from_slice(b"more");
        let (first, last) = line.split_at(40);
        let mut rank = call(&callers, first);
        assert!(callers.ranks(now(), &secret).unwrap().is_empty());
        rank.write_all(last).unwrap();
        let ranks = recognized(&mut callers, &secret);
        assert_eq!((ranks.len(), ranks[0].hello.rank, &ranks[0].rest[..]), (1, 5, &b"more"[..]));
    }

    #[test]
    fn a_caller_that_says_nothing_or_something_wrong_is_disconnected() {
        let (mut callers, secret) = (callers(), Secret::random().unwrap());
        let _silent = call(&callers, b"");
        let wrong = hello(&Secret::random().unwrap(), 0);
        let mut impostor = call(&callers, &wrong);
        let until = now() + Duration::from_secs(20);
        while callers.strangers.len() != 1 {
            assert!(now() < until && callers.ranks(now(), &secret).unwrap().is_empty());
        }
        impostor.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert!(matches!(impostor.read(&mut [0; 8]), Ok(0) | Err(_)), "it hears nothing");
        assert!(callers.ranks(now() + HELLO, &secret).unwrap().is_empty());
        assert_eq!(callers.strangers.len(), 0);
    }
}
