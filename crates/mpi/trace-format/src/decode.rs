//! Decoding: bytes to calls.

use std::io::{self, BufRead};

use crate::{Call, Clock, Collective, CollectiveKind, Header, MAGIC, Message, Transfer, VERSION};

/// Why a file is not part of a trace.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// What is wrong, and where.
    #[error("byte {at}: {problem}")]
    At {
        /// The byte before which it is, from 0. [B]
        at: u64,
        /// What was found there, and what is allowed.
        problem: String,
    },
}

/// The calls of a file, one after another.
#[derive(Debug)]
pub struct Calls<R> {
    content: R,
    /// How many bytes were read. [B]
    at: u64,
    /// How many more numbers its lists may have.
    room: u64,
    header: Header,
}

/// The most numbers in all lists of a file together: few bytes may stand for much memory.
const MOST_LISTED: u64 = 1 << 26;

impl<R: BufRead> Calls<R> {
    /// Reads the beginning of a file.
    ///
    /// # Errors
    /// If it can't be read, or begins differently.
    pub fn new(content: R) -> Result<Calls<R>, Damage> {
        let header = Header { rank: 0, size: 1, clock: Clock::Monotonic };
        let mut calls = Calls { content, at: 0, room: MOST_LISTED, header };
        for expected in MAGIC {
            if calls.byte()? != expected {
                return Err(
                    calls.damage("found no trace of `maquette trace`; allowed is one, which begins with `maqtrace`")
                );
            }
        }
        let version = calls.byte()?;
        if version != VERSION {
            let problem = format!("found version {version} of the format; allowed is {VERSION}");
            return Err(calls.damage(problem));
        }
        let clock = match calls.byte()? {
            0 => Clock::Monotonic,
            1 => Clock::Processor,
            other => return Err(calls.damage(format!("found clock {other}; allowed is 0 or 1"))),
        };
        calls.header = Header { clock, rank: calls.small()?, size: calls.small()? };
        Ok(calls)
    }

    /// The header of the file.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// How much of the file has been read. [B]
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// The next call, and how long the process computed before it [ns]; none where the recording ends.
    ///
    /// # Errors
    /// If it can't be read, or is not a call.
    pub fn next_call(&mut self) -> Result<Option<(u64, Call)>, Damage> {
        if self.content.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let code = self.byte()?;
        if code == 0 {
            return Ok(None);
        }
        let computed = self.number()?;
        let call = match code {
            1 => Call::Send(self.message()?),
            2 => Call::Receive(self.message()?),
            3 => Call::BeginSend(self.small()?, self.message()?),
            4 => Call::BeginReceive(self.small()?, self.message()?),
            5 => Call::SendReceive(Box::new(Transfer { send: self.message()?, receive: self.message()? })),
            6 => Call::Matched(self.small()?, self.small()?, self.small()?),
            7 => Call::Wait(self.small_list()?),
            8 => Call::Free(self.small()?),
            9 => Call::Probe(self.message()?),
            10 => Call::Collective(self.collective()?),
            11 => Call::BeginCollective(self.small()?, self.collective()?),
            12 => Call::Communicator(self.small()?, self.members()?),
            13 => Call::Unsupported(self.text()?),
            14 => Call::Finalize(self.number()?),
            15 => Call::Cancelled(self.small()?),
            other => return Err(self.damage(format!("found a call of the number {other}; allowed is 1 to 15"))),
        };
        Ok(Some((computed, call)))
    }

    fn message(&mut self) -> Result<Message, Damage> {
        let (partner, tag) = (self.named_or_any()?, self.named_or_any()?);
        Ok(Message { partner, tag, communicator: self.small()?, bytes: self.number()? })
    }

    fn collective(&mut self) -> Result<Box<Collective>, Damage> {
        let code = self.byte()?;
        let Some(kind) = CollectiveKind::of_code(code) else {
            let problem =
                format!("found a collective of the number {code}; allowed is 0 to {}", CollectiveKind::ALL.len() - 1);
            return Err(self.damage(problem));
        };
        let (communicator, root, bytes) = (self.small()?, self.small()?, self.number()?);
        let counts = self.list()?.into_boxed_slice();
        Ok(Box::new(Collective { kind, communicator, root, bytes, counts }))
    }

    fn members(&mut self) -> Result<Box<[u32]>, Damage> {
        let steps = self.small_list()?;
        let sums = steps.iter().scan(0_u32, |member, &step| {
            *member = member.wrapping_add(step);
            Some(*member)
        });
        Ok(sums.collect())
    }

    fn text(&mut self) -> Result<Box<str>, Damage> {
        let bytes: Vec<u8> = self.list()?.into_iter().map(|byte| byte as u8).collect();
        let text = String::from_utf8(bytes).map_err(|_| self.damage("found no text; allowed is the name of a call"))?;
        Ok(text.into())
    }

    fn small_list(&mut self) -> Result<Box<[u32]>, Damage> {
        let numbers = self.list()?.into_iter().map(u32::try_from).collect::<Result<Box<[u32]>, _>>();
        numbers.map_err(|_| self.damage("found a number of more than 32 bits; allowed is at most 32"))
    }

    fn list(&mut self) -> Result<Vec<u64>, Damage> {
        let length = self.number()?;
        let Some(room) = self.room.checked_sub(length) else {
            let problem = format!("found a list of {length}; allowed are {MOST_LISTED} numbers in all lists of a file");
            return Err(self.damage(problem));
        };
        self.room = room;
        let mut numbers = Vec::new();
        while (numbers.len() as u64) < length {
            let often = self.number()?;
            if often == 0 || often > length - numbers.len() as u64 {
                let problem =
                    format!("found a run of {often} in a list of {length}; allowed is what the list has room for");
                return Err(self.damage(problem));
            }
            let number = self.number()?;
            numbers.resize(numbers.len() + often as usize, number);
        }
        Ok(numbers)
    }

    fn named_or_any(&mut self) -> Result<Option<u32>, Damage> {
        let number = self.number()?;
        let Some(named) = number.checked_sub(1) else { return Ok(None) };
        u32::try_from(named).map(Some).map_err(|_| self.too_large(named))
    }

    fn small(&mut self) -> Result<u32, Damage> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.too_large(number))
    }

    fn too_large(&self, number: u64) -> Damage {
        self.damage(format!("found {number}; allowed is at most {}", u32::MAX))
    }

    fn number(&mut self) -> Result<u64, Damage> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 || shift > 63 {
                return Err(self.damage("found a number of more than 64 bits; allowed is at most 64"));
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    fn byte(&mut self) -> Result<u8, Damage> {
        let byte = self.content.fill_buf()?.first().copied();
        let Some(byte) = byte else { return Err(self.damage("the file ends within a call; allowed are whole ones")) };
        self.content.consume(1);
        self.at += 1;
        Ok(byte)
    }

    fn damage(&self, problem: impl Into<String>) -> Damage {
        Damage::At { at: self.at, problem: problem.into() }
    }
}
