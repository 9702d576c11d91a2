//! When the servers of an LH*LH table of Dutch words split: by a simulation of its own, written from sections 2 and 3
//! of the paper, compared with the table in experiments/lh/parameters.md and with the project's clients and servers.

use std::collections::{BTreeSet, VecDeque};

use endpoint::Message;
use linear_hash::{
    Client, ClientOutput, Growth, Key, KeyHash, Operation, OperationOutcome, Request, Server, ServerOutput, ToServer,
};
use maquette_experiment::words;
use quantities::{Duration, Time};

/// The most servers.
const SERVERS: usize = 11;
/// The clients, each of which has its own part of the words.
const CLIENTS: usize = 5;

/// After how many inserts a server splits, and which.
type Splits = Vec<(usize, usize)>;

/// The words in the order in which five clients insert them in turn: each begins where a fifth of the list does.
fn in_turn(words: &[Key]) -> Vec<&Key> {
    let edge = |client: usize| words.len() * client / CLIENTS;
    let parts: Vec<&[Key]> = (0..CLIENTS).map(|client| &words[edge(client)..edge(client + 1)]).collect();
    let longest = parts.iter().map(|part| part.len()).max().unwrap();
    (0..longest).flat_map(|index| parts.iter().filter_map(move |part| part.get(index))).collect()
}

/// The list without the second of two equal entries.
fn different_words() -> Vec<Key> {
    let mut seen = BTreeSet::new();
    words::dutch().into_iter().filter(|word| seen.insert(word.clone())).collect()
}

/// A file of 2^i + n servers, each with the words it stores.
struct File<'a> {
    i: u32,
    n: usize,
    servers: Vec<BTreeSet<&'a Key>>,
}

/// h_i: the bytes of a word as a number, modulo 2^i. There are at most 16 classes, which is a divisor of 256, so that
/// the last byte decides.
fn h(i: u32, word: &Key) -> usize {
    usize::from(word[word.len() - 1]) % (1 << i)
}

impl<'a> File<'a> {
    /// Section 2, equation (2), with one starting server.
    fn insert(&mut self, word: &'a Key) {
        let index = match h(self.i, word) {
            split if split < self.n => h(self.i + 1, word),
            index => index,
        };
        self.servers[index].insert(word);
    }

    /// Section 3: the server with the token splits if it has more than T = M V (2^i + n) / 2^i words. M is 0.8.
    fn is_due(&self, capacity: usize) -> bool {
        let before = 1 << self.i;
        self.servers.len() < SERVERS && 10 * before * self.servers[self.n].len() > 8 * capacity * (before + self.n)
    }

    /// The words that h_(i+1) says go to a new server, and the token moves on. Returns which server split.
    fn split(&mut self) -> usize {
        let (splitting, finer) = (self.n, self.i + 1);
        let (stay, go) = self.servers[splitting].iter().partition(|word| h(finer, word) == splitting);
        self.servers[splitting] = stay;
        self.servers.push(go);
        self.n = (self.n + 1) % (1 << self.i);
        self.i += u32::from(self.n == 0);
        splitting
    }
}

/// The splits of a file into which these words are inserted in turn.
fn simulated(words: &[Key], capacity: usize) -> Splits {
    let mut file = File { i: 0, n: 0, servers: vec![BTreeSet::new()] };
    let mut splits = Vec::new();
    for (before, word) in in_turn(words).into_iter().enumerate() {
        file.insert(word);
        while file.is_due(capacity) {
            splits.push((before + 1, file.split()));
        }
    }
    splits
}

/// In thousands of inserts, as the table prints them.
fn thousands(splits: &Splits) -> String {
    splits.iter().map(|split| format!("{:.1}", split.0 as f64 / 1e3)).collect::<Vec<_>>().join(" ")
}

/// The project's clients and servers, between which messages arrive at once.
struct Ours {
    clients: Vec<Client>,
    servers: Vec<Server>,
}

impl Ours {
    fn new(capacity: usize) -> Ours {
        let most_servers = SERVERS as u32;
        let capacity = capacity as u64;
        let growth = Growth { capacity, sensitivity: 0.8, shrink: None, apart: false, most_servers, chunk: 1_000 };
        let clients = (0..CLIENTS as u64).map(|client| Client::new(client, Duration::LONGEST)).collect();
        Ours { clients, servers: (0..most_servers).map(|number| Server::new(number, growth)).collect() }
    }

    /// Inserts a word and delivers every message that follows from it.
    fn insert(&mut self, client: usize, word: &Key) {
        let operation = Operation::Insert(word.clone(), Message::default());
        let c = KeyHash::LastLetters.of(word);
        let asked: ClientOutput = self.clients[client].ask(Time::ZERO, c, operation);
        let ClientOutput::Send(first, request) = asked else { panic!("{asked:?}") };
        let mut under_way = VecDeque::from([self.requested(first, request)]);
        let mut answers = 0;
        while let Some((from, outputs)) = under_way.pop_front() {
            for output in outputs {
                match output {
                    ServerOutput::Server(to, ToServer::Forward(request)) => {
                        under_way.push_back(self.requested(to, request));
                    }
                    ServerOutput::Server(to, message) => {
                        let mut outputs = Vec::new();
                        self.servers[to as usize].take(from, message, &mut outputs);
                        under_way.push_back((to, outputs));
                    }
                    ServerOutput::Client(_, message) => {
                        let done = self.clients[client].take::<OperationOutcome, _>(Time::ZERO, message);
                        answers += u32::from(matches!(done, Some(ClientOutput::Done(_))));
                    }
                }
            }
        }
        assert_eq!(answers, 1);
    }

    fn requested(&mut self, to: u32, request: Request) -> (u32, Vec<ServerOutput>) {
        let mut outputs = Vec::new();
        self.servers[to as usize].request(request, &mut outputs);
        (to, outputs)
    }

    fn splits_of(&self) -> Vec<u64> {
        self.servers.iter().map(|server| server.counts.splits).collect()
    }
}

/// The same as [`simulated`], as the project does it.
fn ours(words: &[Key], capacity: usize) -> Splits {
    let mut ours = Ours::new(capacity);
    let mut splits = Vec::new();
    let mut counted = ours.splits_of();
    for (before, word) in in_turn(words).into_iter().enumerate() {
        ours.insert(before % CLIENTS, word);
        let now = ours.splits_of();
        let new = (0..SERVERS).filter(|&server| now[server] > counted[server]);
        splits.extend(new.map(|server| (before + 1, server)));
        counted = now;
    }
    splits
}

/// With V = 7,500 the first server has more than M V = 6,000 words after 6,001 inserts, and the table's other numbers
/// follow likewise. They are those of the 177,005 different words of the list.
#[test]
fn the_table_of_splits_counts_inserts_of_different_words() {
    let words = different_words();
    assert_eq!(words.len(), 177_005);
    for (capacity, table) in [
        (2_500, "2.0 3.5 7.0 7.8 14.1 14.1 14.1 48.7 48.7 48.7"),
        (3_000, "2.4 4.2 8.3 9.3 17.7 17.7 17.7 60.9 60.9 60.9"),
        (6_000, "4.8 8.5 16.6 18.0 32.3 32.3 32.9 132.7 132.7 132.7"),
        (7_500, "6.0 10.8 21.0 22.9 39.9 39.9 41.3 162.3 162.3 162.3"),
        (8_100, "6.5 11.7 22.5 24.9 42.7 42.7 44.6"),
    ] {
        assert_eq!(thousands(&simulated(&words, capacity)), table, "V = {capacity}");
    }
    let servers: Vec<usize> = simulated(&words, 7_500).iter().map(|split| split.1).collect();
    assert_eq!(servers, [0, 0, 1, 0, 1, 2, 3, 0, 1, 2], "the token goes round 1, 2, 4 and 8 servers");
}

/// The whole list has 180,689 entries, 3,684 of which are there already and store nothing. So splits come 1.0 to 2.5 %
/// later.
#[test]
fn inserting_the_whole_list_splits_a_little_later() {
    let splits = simulated(&words::dutch(), 7_500);
    assert_eq!(thousands(&splits), "6.1 11.0 21.2 23.5 40.3 40.3 42.0 166.1 166.1 166.1");
}

#[test]
fn our_servers_split_after_the_same_inserts() {
    for words in [different_words(), words::dutch()] {
        assert_eq!(ours(&words, 7_500), simulated(&words, 7_500));
    }
}
