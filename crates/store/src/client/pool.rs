//! The client of a pool: sockets, the clock, and waiting.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::request::Batch;
use super::routes::Routes;
use super::slots::MemberNumber;
use super::{Counts, Error, Options};
use crate::resp::Value;
use crate::tls::{Connector, Stream};

/// How many events are taken at a time.
const EVENTS: usize = 64;
/// How much is read at a time. [B]
const READ: usize = 64 << 10;
/// How often `goes_on` is called.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// After this time without a request, the client first looks for connections that members have closed.
const IDLE: Duration = Duration::from_millis(100);

/// Whether the client is to go on.
type GoesOn = Box<dyn Fn() -> bool + Send>;

struct Socket {
    stream: Stream<TcpStream>,
    is_open: bool,
    /// Whether the member has ended its side of the connection: then it is read up to its end.
    is_ending: bool,
}

/// A client of a whole pool, which sends each request to the member that has its keys: see [the module](super).
pub struct Pool {
    routes: Routes,
    tls: Option<Connector>,
    poll: Poll,
    events: Events,
    sockets: BTreeMap<MemberNumber, Socket>,
    began: Instant,
    /// When it was last used.
    used: Duration,
    /// When `goes_on` was last called.
    asked: Duration,
    read: Vec<u8>,
    goes_on: Option<GoesOn>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").field("routes", &self.routes).finish_non_exhaustive()
    }
}

impl Pool {
    /// A client of the pool to which these members belong. One is enough, at its port for clients or at the one for
    /// clients that follow slots.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Broken`] or [`Error::Refused`], if no member could be asked; [`Error::Late`].
    pub fn open(members: &[SocketAddr], options: Options) -> Result<Pool, Error> {
        Pool::open_while(members, options, None)
    }

    /// The same, but whatever the client waits for, it is interrupted as soon as `goes_on`, called ten times a second,
    /// returns false.
    ///
    /// # Errors
    /// As [`Pool::open`], and [`Error::Interrupted`].
    pub fn open_while(members: &[SocketAddr], options: Options, goes_on: Option<GoesOn>) -> Result<Pool, Error> {
        let mut pool = Pool {
            tls: options.tls.clone(),
            routes: Routes::new(members.to_vec(), options, Duration::ZERO)?,
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS),
            sockets: BTreeMap::new(),
            began: clock(),
            used: Duration::ZERO,
            asked: Duration::ZERO,
            read: vec![0; READ],
            goes_on,
        };
        pool.run()?;
        pool.routes.answers()?;
        Ok(pool)
    }

    /// The value of a key; none, if there is none.
    ///
    /// # Errors
    /// [`Error`]
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        match self.execute(&[b"GET", key])? {
            Value::Text(value) => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Stores a value under a key.
    ///
    /// # Errors
    /// [`Error`]
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.execute(&[b"SET", key, value]).map(drop)
    }

    /// Removes a key. Returns whether it was there.
    ///
    /// # Errors
    /// [`Error`]
    pub fn del(&mut self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.execute(&[b"DEL", key])?.integer() == Some(1))
    }

    /// Executes a command, given by its name and its arguments. `MGET`, `MSET`, `DEL`, `UNLINK`, `EXISTS` and `TOUCH`
    /// may have keys of several members.
    ///
    /// # Errors
    /// [`Error`]
    pub fn execute(&mut self, arguments: &[&[u8]]) -> Result<Value, Error> {
        let mut answers = self.pipeline().ask(arguments).execute()?;
        answers.pop().unwrap_or(Err(Error::Empty))
    }

    /// Several commands, which are sent together and travel at the same time.
    pub fn pipeline(&mut self) -> Pipeline<'_> {
        Pipeline { pool: self, batch: Batch::default() }
    }

    /// Its counters.
    pub const fn counts(&self) -> Counts {
        self.routes.counts()
    }

    fn now(&self) -> Duration {
        clock().duration_since(self.began)
    }

    fn execute_batch(&mut self, batch: Batch) -> Result<Vec<Result<Value, Error>>, Error> {
        if self.now() >= self.used.saturating_add(IDLE) {
            // A connection that a member has closed meanwhile is opened anew, before a request is lost on it.
            self.wait(Duration::ZERO)?;
        }
        let now = self.now();
        self.routes.begin(now, batch);
        let outcome = self.run();
        self.used = self.now();
        outcome?;
        self.routes.answers()
    }

    fn run(&mut self) -> Result<(), Error> {
        while !self.routes.is_done() {
            let now = self.now();
            self.routes.wake(now);
            self.call(now);
            self.write(now);
            if self.routes.is_done() {
                break;
            }
            let wait = self.routes.deadline().saturating_sub(now);
            self.wait(wait.min(LONGEST_WAIT))?;
            if self.is_to_end() {
                self.routes.give_up();
                self.drop_closed();
                // The answers of what was given up are dropped.
                let _ = self.routes.answers();
                return Err(Error::Interrupted);
            }
        }
        self.drop_closed();
        Ok(())
    }

    /// Whether `goes_on`, called ten times a second, says that it is to end.
    fn is_to_end(&mut self) -> bool {
        let Some(goes_on) = &self.goes_on else { return false };
        let now = clock().duration_since(self.began);
        let is_due = now >= self.asked.saturating_add(LONGEST_WAIT);
        if is_due {
            self.asked = now;
        }
        is_due && !goes_on()
    }

    /// Opens the connections that are needed.
    fn call(&mut self, now: Duration) {
        self.drop_closed();
        for (member, address) in self.routes.to_open(now) {
            let stream = TcpStream::connect(address).and_then(|mut stream| {
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut stream, Token(member.0), interest)?;
                Stream::connected(stream, self.tls.as_ref(), address.ip())
            });
            match stream {
                Ok(stream) => {
                    self.sockets.insert(member, Socket { stream, is_open: false, is_ending: false });
                }
                Err(cause) => self.routes.gone(now, member, &cause),
            }
        }
    }

    fn drop_closed(&mut self) {
        let routes = &self.routes;
        self.sockets.retain(|member, _| !routes.is_closed(*member));
    }

    /// Sends as much as the sockets take.
    fn write(&mut self, now: Duration) {
        for (&member, socket) in self.sockets.iter_mut().filter(|(_, socket)| socket.is_open) {
            loop {
                let unsent = self.routes.unsent(member);
                // What was written may still have to go out.
                let outcome = match unsent.is_empty() {
                    true => socket.stream.flush().map(|()| None),
                    false => socket.stream.write(unsent).map(Some),
                };
                match outcome {
                    Ok(None) => break,
                    Ok(Some(bytes)) => self.routes.was_sent(member, bytes),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.routes.gone(now, member, &error);
                        break;
                    }
                }
            }
        }
    }

    /// Waits for events, and handles them.
    fn wait(&mut self, limit: Duration) -> Result<(), Error> {
        match self.poll.poll(&mut self.events, Some(limit)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            outcome => outcome?,
        }
        let now = self.now();
        for event in &self.events {
            let member = MemberNumber(event.token().0);
            let Some(socket) = self.sockets.get_mut(&member) else { continue };
            socket.is_ending |= event.is_read_closed() || event.is_error();
            let outcome = socket.is_ready(&mut self.routes, member).and_then(|is_open| match is_open {
                true if event.is_readable() || event.is_read_closed() || event.is_error() => {
                    socket.receive(&mut self.routes, member, now, &mut self.read)
                }
                _ => Ok(()),
            });
            if let Err(cause) = outcome {
                self.routes.gone(now, member, &cause);
            }
        }
        Ok(())
    }
}

impl Socket {
    /// Whether the socket is connected; if it has just become so, notes that.
    fn is_ready(&mut self, routes: &mut Routes, member: MemberNumber) -> io::Result<bool> {
        if self.is_open {
            return Ok(true);
        }
        let stream = self.stream.socket();
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            Ok(_) => {
                stream.set_nodelay(true)?;
                self.is_open = true;
                routes.opened(member);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Receives all that has arrived.
    fn receive(&mut self, routes: &mut Routes, member: MemberNumber, now: Duration, room: &mut [u8]) -> io::Result<()> {
        while !routes.is_closed(member) {
            match self.stream.read(room) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    routes.received(now, member, &room[..bytes]);
                    if !self.is_ending && !self.stream.may_have_more(bytes, room.len()) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Commands that are sent together. Each goes to the member that has its keys, all at the same time, and the answers
/// are in the order of the commands.
///
/// Those on one key are executed in this order, unless a connection breaks, or the key leaves a member and comes
/// back to it meanwhile: a merge right after a split, or the other way round.
#[derive(Debug)]
pub struct Pipeline<'a> {
    pool: &'a mut Pool,
    batch: Batch,
}

impl Pipeline<'_> {
    /// Adds a command, given by its name and its arguments.
    pub fn ask(&mut self, arguments: &[&[u8]]) -> &mut Self {
        self.batch.ask(arguments);
        self
    }

    /// Sends the commands and waits for all answers, one to each; an error reply to a command is [`Error::Refused`].
    ///
    /// # Errors
    /// [`Error`], if nothing could be asked at all.
    pub fn execute(&mut self) -> Result<Vec<Result<Value, Error>>, Error> {
        self.pool.execute_batch(std::mem::take(&mut self.batch))
    }
}

#[allow(clippy::disallowed_methods)] // waiting for members needs the clock
fn clock() -> Instant {
    Instant::now()
}
