//! Clients that send many requests before they read a reply, to members that split, merge and die: replies arrive in
//! the order of requests, requests for one key are carried out in that order, and a request for several keys or none
//! comes after all requests before it.

use std::collections::BTreeMap;

use crate::persistence::World;
use crate::pool::Draws;
use crate::seeds::of_each_seed;

/// The number of keys of a script.
const KEYS: u64 = 12;
/// The first key of the first script.
const FIRST: u64 = 100_000;

/// The requests of one client, on keys that no other client uses, and their expected replies.
#[derive(Default)]
struct Script {
    number: u64,
    numbers: BTreeMap<u64, u64>,
}

impl Script {
    /// Some requests, and their replies.
    fn draw(&mut self, draws: &mut Draws) -> (String, String) {
        let (mut lines, mut due) = (String::new(), String::new());
        for _ in 0..1 + draws.below(30) {
            let (line, reply) = self.draw_one(draws);
            lines += &line;
            lines += "\r\n";
            due += &reply;
        }
        (lines, due)
    }

    fn key(&self, draws: &mut Draws) -> u64 {
        FIRST + self.number * KEYS + draws.below(KEYS)
    }

    fn draw_one(&mut self, draws: &mut Draws) -> (String, String) {
        let (key, other, value) = (self.key(draws), self.key(draws), draws.below(1_000));
        let bulk = |number: Option<&u64>| {
            let text = number.map(u64::to_string);
            text.map_or("$-1\r\n".to_owned(), |text| format!("${}\r\n{text}\r\n", text.len()))
        };
        match draws.below(20) {
            0..5 => {
                self.numbers.insert(key, value);
                (format!("SET {key} {value}"), "+OK\r\n".to_owned())
            }
            5..10 => {
                let number = self.numbers.entry(key).or_insert(0);
                *number += 1;
                (format!("INCR {key}"), format!(":{number}\r\n"))
            }
            10..15 => (format!("GET {key}"), bulk(self.numbers.get(&key))),
            15 => (format!("GETDEL {key}"), bulk(self.numbers.remove(&key).as_ref())),
            16 => {
                let both = [key, other].map(|key| bulk(self.numbers.get(&key)));
                (format!("MGET {key} {other}"), format!("*2\r\n{}", both.concat()))
            }
            17 => {
                let removed = [key, other].iter().filter(|key| self.numbers.remove(key).is_some()).count();
                (format!("DEL {key} {other}"), format!(":{removed}\r\n"))
            }
            18 => {
                self.numbers.insert(key, value + 1);
                let due = format!("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:{}\r\n", value + 1);
                (format!("MULTI\r\nSET {key} {value}\r\nINCR {key}\r\nEXEC"), due)
            }
            _ if value < 500 => ("PING".to_owned(), "+PONG\r\n".to_owned()),
            _ => (format!("INCR {key} 1"), "-ERR wrong number of arguments for 'incr' command\r\n".to_owned()),
        }
    }
}

/// A client that follows a script.
#[derive(Default)]
struct Pipe {
    script: Script,
    /// The machine to which it sends them.
    at: usize,
    /// The replies that it still expects.
    due: String,
    /// The replies so far. [B]
    received: usize,
    /// The most requests that its member had under way for all its clients.
    most_under_way: usize,
}

impl Pipe {
    /// Takes its replies, and sends more requests, sometimes before it has all replies.
    fn go_on(&mut self, world: &mut World) {
        self.receive(world);
        if !self.due.is_empty() && !world.draws.percent(20) {
            return;
        }
        if self.due.is_empty() {
            self.at = world.some_machine();
        }
        let (lines, due) = self.script.draw(&mut world.draws);
        self.due += &due;
        world.talk(self.at, lines.trim_end(), 20);
        self.most_under_way = self.most_under_way.max(world.member(self.at).requests_under_way());
    }

    fn receive(&mut self, world: &mut World) {
        if self.due.is_empty() {
            return;
        }
        let Some(replies) = world.acknowledged(self.at) else {
            // The values of its keys are unknown now.
            self.script = Script { number: self.script.number + 1, numbers: BTreeMap::new() };
            return self.due.clear();
        };
        let rest = self.due.strip_prefix(&*replies);
        self.due = rest.unwrap_or_else(|| panic!("received {replies:?} instead of {:?}", self.due)).to_owned();
        self.received += replies.len();
    }
}

#[test]
fn pipelines_are_answered_in_order_and_carried_out_in_order_for_each_key_though_members_die() {
    let (mut received, mut most, mut lost) = (0, 0, 0);
    let runs = of_each_seed("pipelines", 100, |seed| {
        let (mut world, mut pipe) = (World::new(seed, false), Pipe::default());
        world.run(400, true, |world| pipe.go_on(world));
        world.check();
        world.run(200, false, |world| pipe.go_on(world));
        world.shrink();
        world.check();
        pipe.receive(&mut world);
        assert_eq!(pipe.due, "", "never received");
        received += pipe.received;
        most = most.max(pipe.most_under_way);
        lost += pipe.script.number;
    });
    // These bounds check that enough was tried. With these seeds at most 9 requests are under way at once; the bound
    // was set after that was seen.
    assert!(runs < 100 || received > 100_000 && most > 6 && lost > 100, "{received} B, {most} at once, {lost} lost");
}
