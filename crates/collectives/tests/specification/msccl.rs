//! Schedules as MSCCL XML: the text meets the requirements of its reader, and running it, with sends that wait for
//! their receivers, brings every chunk to its place.

use std::collections::BTreeMap;

use maquette_collectives::all_to_all::{Complete, Irregular};
use maquette_collectives::schedule::{MscclError, Pattern, Schedule, Transfer};
use proptest::prelude::*;
use quantities::{Bytes, Rank};

/// A line with an element: its name and its attributes.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
}

impl Element {
    fn read(line: &str) -> Element {
        let inside = line.trim().trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
        let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
        let mut attributes = BTreeMap::new();
        while let Some((key, after)) = rest.split_once("=\"") {
            let (value, after) = after.split_once('"').unwrap();
            attributes.insert(key.trim().to_owned(), value.to_owned());
            rest = after;
        }
        Element { name: name.to_owned(), attributes }
    }

    fn text(&self, key: &str) -> &str {
        self.attributes.get(key).unwrap_or_else(|| panic!("{self:?} has no {key}"))
    }

    fn number(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap_or_else(|_| panic!("{key} of {self:?} is no number"))
    }

    /// Asserts that it has these attributes and no others.
    fn has(&self, keys: &[&str]) {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        assert_eq!(self.attributes.keys().collect::<Vec<_>>(), keys);
    }
}

struct Block {
    send: i64,
    receive: i64,
    channel: i64,
    steps: Vec<Element>,
    done: usize,
}

struct Gpu {
    blocks: Vec<Block>,
    /// What fills each chunk of the output: the rank and the chunk of its input.
    output: Vec<Option<(usize, i64)>>,
    input: i64,
}

struct Algorithm {
    collective: String,
    gpus: Vec<Gpu>,
}

fn read(text: &str) -> Algorithm {
    let (comment, rest) = text.split_once('\n').unwrap();
    assert!(comment.starts_with("<!-- a chunk has ") && comment.ends_with(" bytes -->"), "{comment}");
    let mut lines = rest.lines().map(Element::read);
    let head = lines.next().unwrap();
    head.has(&[
        "name",
        "proto",
        "nchannels",
        "nchunksperloop",
        "ngpus",
        "coll",
        "inplace",
        "outofplace",
        "minBytes",
        "maxBytes",
    ]);
    let mut algorithm = Algorithm { collective: head.text("coll").to_owned(), gpus: Vec::new() };
    for element in lines {
        match element.name.as_str() {
            "gpu" => {
                element.has(&["id", "i_chunks", "o_chunks", "s_chunks"]);
                assert_eq!(element.number("id"), algorithm.gpus.len() as i64);
                let output = vec![None; element.number("o_chunks") as usize];
                algorithm.gpus.push(Gpu { blocks: Vec::new(), output, input: element.number("i_chunks") });
                assert!(element.number("i_chunks").max(element.number("o_chunks")) <= head.number("nchunksperloop"));
            }
            "tb" => {
                element.has(&["id", "send", "recv", "chan"]);
                let blocks = &mut algorithm.gpus.last_mut().unwrap().blocks;
                assert_eq!(element.number("id"), blocks.len() as i64);
                let (send, receive, channel) = (element.number("send"), element.number("recv"), element.number("chan"));
                assert!((0..head.number("nchannels")).contains(&channel));
                blocks.push(Block { send, receive, channel, steps: Vec::new(), done: 0 });
            }
            "step" => {
                element.has(&["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"]);
                let steps = &mut algorithm.gpus.last_mut().unwrap().blocks.last_mut().unwrap().steps;
                assert_eq!(element.number("s"), steps.len() as i64);
                assert!((1..72).contains(&element.number("cnt")));
                steps.push(element);
            }
            closing => assert!(closing.starts_with('/'), "{closing}"),
        }
    }
    assert_eq!(algorithm.gpus.len() as i64, head.number("ngpus"));
    algorithm
}

impl Algorithm {
    /// The next step of a block, if the step it waits for is over.
    fn ready(&self, gpu: usize, block: usize) -> Option<&Element> {
        let blocks = &self.gpus[gpu].blocks;
        let step = blocks[block].steps.get(blocks[block].done)?;
        let after = step.number("depid");
        if after < 0 {
            return Some(step);
        }
        let waited_for = &blocks[after as usize];
        assert_eq!(waited_for.steps[step.number("deps") as usize].text("hasdep"), "1");
        (waited_for.done as i64 > step.number("deps")).then_some(step)
    }

    /// Runs it; a send and its receive are over together.
    fn run(&mut self) {
        while self.advance() {}
        let left = |gpu: &Gpu| gpu.blocks.iter().any(|block| block.done < block.steps.len());
        assert!(!self.gpus.iter().any(left), "it is stuck");
    }

    /// Carries out one step that is ready; returns whether there was one.
    fn advance(&mut self) -> bool {
        for gpu in 0..self.gpus.len() {
            for block in 0..self.gpus[gpu].blocks.len() {
                let Some(step) = self.ready(gpu, block) else { continue };
                let Block { send, channel, .. } = self.gpus[gpu].blocks[block];
                let chunks = (step.number("srcoff"), step.number("dstoff"), step.number("cnt"));
                match step.text("type") {
                    "cpy" => {
                        self.move_chunks(gpu, gpu, chunks);
                        self.gpus[gpu].blocks[block].done += 1;
                        return true;
                    }
                    "s" => {
                        let other = send as usize;
                        let meets = |block: &Block| block.receive == gpu as i64 && block.channel == channel;
                        let mut matching =
                            (0..self.gpus[other].blocks.len()).filter(|&it| meets(&self.gpus[other].blocks[it]));
                        let (Some(there), None) = (matching.next(), matching.next()) else {
                            panic!("no one receives, or two")
                        };
                        let Some(received) = self.ready(other, there) else { continue };
                        assert_eq!((received.text("type"), received.number("cnt")), ("r", chunks.2));
                        assert_eq!(received.number("dstoff"), chunks.1);
                        self.move_chunks(gpu, other, chunks);
                        self.gpus[gpu].blocks[block].done += 1;
                        self.gpus[other].blocks[there].done += 1;
                        return true;
                    }
                    kind => assert_eq!(kind, "r"),
                }
            }
        }
        false
    }

    fn move_chunks(&mut self, from: usize, to: usize, (source, destination, count): (i64, i64, i64)) {
        assert!(source + count <= self.gpus[from].input);
        for chunk in 0..count {
            let place = &mut self.gpus[to].output[(destination + chunk) as usize];
            assert_eq!(place.replace((from, source + chunk)), None, "a chunk is overwritten");
        }
    }
}

/// What the outputs should hold: the messages to a rank in order of sender, of inputs in order of receiver.
fn expected(pattern: &Pattern, chunk: u64, own: Option<u64>) -> Vec<Vec<(usize, i64)>> {
    let ranks = pattern.ranks() as usize;
    let mut outputs = vec![Vec::new(); ranks];
    for from in 0..ranks {
        let mut next = 0;
        for (to, output) in outputs.iter_mut().enumerate() {
            let bytes = if from == to { own.unwrap_or(0) } else { pattern.bytes(Rank(from as u32), Rank(to as u32)).0 };
            for _ in 0..bytes / chunk {
                output.push((from, next));
                next += 1;
            }
        }
    }
    outputs
}

/// In which order each rank sends to others, and in which it receives.
fn orders(schedule: &Schedule) -> BTreeMap<(Rank, bool), Vec<Rank>> {
    let mut orders: BTreeMap<(Rank, bool), Vec<Rank>> = BTreeMap::new();
    for transfer in schedule.transfers().filter(|transfer| transfer.bytes > Bytes(0)) {
        orders.entry((transfer.from, true)).or_default().push(transfer.to);
        orders.entry((transfer.to, false)).or_default().push(transfer.from);
    }
    // Parts of one message that follow each other may have become one.
    orders.values_mut().for_each(Vec::dedup);
    orders
}

fn delivers(schedule: &Schedule, pattern: &Pattern, chunk: u64, own: Option<u64>) {
    let text = schedule.to_msccl("test").unwrap();
    let again = Schedule::read("test.xml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!((again.check(pattern), orders(&again)), (Ok(()), orders(schedule)), "{text}");
    assert_eq!(again.to_msccl("test").unwrap(), text);
    let mut algorithm = read(&text);
    assert_eq!(algorithm.collective, if own.is_some() { "alltoall" } else { "alltoallv" });
    algorithm.run();
    let outputs: Vec<Vec<_>> =
        algorithm.gpus.into_iter().map(|gpu| gpu.output.into_iter().flatten().collect()).collect();
    assert_eq!(outputs, expected(pattern, chunk, own), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_chunk_comes_to_its_place(ranks in 2..9_u32, millionths in 0..1_000_000_u64, seed in any::<u64>(), chunk in 1..5_u64) {
        let random = Pattern::random(ranks, millionths, Bytes(1), seed).unwrap();
        // One message is one chunk, so that the chunk size is known; other sizes take several steps of 71.
        let size = |index: u64| if index == 0 { chunk } else { chunk * (1 + index * 29 % 200) };
        let messages = (0..).zip(random.messages()).map(|(index, message)| Transfer { bytes: Bytes(size(index)), ..*message });
        let pattern = Pattern::of_messages(ranks, messages.collect()).unwrap();
        if pattern.messages().len() > 1 {
            for algorithm in Irregular::all() {
                delivers(&algorithm.schedule(&pattern), &pattern, chunk, None);
            }
        }
    }
}

#[test]
fn a_complete_exchange_is_an_alltoall_with_ones_own_message() {
    for ranks in [2, 3, 8, 40] {
        for algorithm in [Complete::Pairwise, Complete::Balanced, Complete::Linear] {
            let schedule = algorithm.schedule(ranks, Bytes(256)).unwrap();
            delivers(&schedule, &Pattern::complete(ranks, Bytes(256)).unwrap(), 256, Some(256));
        }
    }
}

#[test]
fn what_is_no_schedule_of_messages_is_refused_with_its_place() {
    let good = Complete::Pairwise.schedule(2, Bytes(8)).unwrap().to_msccl("a").unwrap();
    let error_of = |text: &str| Schedule::read("a.xml", text.as_bytes()).unwrap_err().to_string();
    for (found, instead, error) in [
        (
            "coll=\"alltoall\"",
            "coll=\"allreduce\"",
            "a.xml:2:1: coll: found `allreduce`; allowed is alltoall or alltoallv",
        ),
        (
            "type=\"r\"",
            "type=\"rrc\"",
            "a.xml:8:7: type: found `rrc`; allowed is s, r or cpy: a schedule of messages neither",
        ),
        ("dstbuf=\"o\" dstoff=\"0\"", "dstbuf=\"s\" dstoff=\"0\"", "a.xml:5:7: dstbuf: found `s`; allowed is `o`"),
        (
            "<!-- a chunk has 8 bytes -->",
            "<!-- -->",
            "a.xml:2:1: found no size of a chunk, which MSCCL leaves to the call",
        ),
        ("has 8 bytes", "has 0 bytes", "a.xml:2:1: found no size of a chunk"),
        ("ngpus=\"2\"", "ngpus=\"3\"", "a.xml:2:1: ngpus: found 3 and 2 of <gpu>"),
        ("coll=\"alltoall\"", "coll=\"alltoallv\"", "a.xml:2:1: coll: found that it does not fit"),
        (
            "srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt",
            "srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt",
            "a.xml:11:7: found that chunk 0 of rank 0's",
        ),
        ("send=\"1\"", "send=\"0\"", "a.xml:10:5: send: found 0; allowed is a rank that receives it"),
        ("depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"9\"", "a.xml:5:7: found a step that waits for ever"),
        ("</algo>", "", "a.xml: found no XML: "),
        ("<tb id=\"0\"", "<tb id=\"7\"", "a.xml:4:5: id: found 7; allowed is 0"),
    ] {
        let text = good.replacen(found, instead, 1);
        assert_ne!(text, good, "{found}");
        let message = error_of(&text);
        assert!(message.starts_with(error), "{message}\nnot {error}");
    }
    let bomb = format!("<!DOCTYPE algo [<!ENTITY a \"b\">]>\n{good}");
    assert!(error_of(&bomb).contains("found no XML: "), "{}", error_of(&bomb));
}

#[test]
fn two_ranks_that_exchange() {
    let schedule = Complete::Pairwise.schedule(2, Bytes(8)).unwrap();
    let expected = r#"<!-- a chunk has 8 bytes -->
<algo name="a &lt;b&gt;" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="alltoall" inplace="0" outofplace="1" minBytes="0" maxBytes="0">
  <gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">
    <tb id="0" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="1" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="2" send="1" recv="-1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="2" s_chunks="0">
    <tb id="0" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="0" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="2" send="0" recv="-1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"#;
    assert_eq!(schedule.to_msccl("a <b>").unwrap(), expected);
}

#[test]
fn sizes_without_a_common_divisor_are_refused() {
    let transfer = |from, to, bytes| Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(bytes) };
    let schedule = Schedule::new(2, vec![vec![transfer(0, 1, (1 << 30) + 1), transfer(1, 0, 1 << 30)]]);
    let error = schedule.to_msccl("odd").unwrap_err();
    assert_eq!(error, MscclError::Chunks { chunk: Bytes(1), chunks: (2 << 30) + 1 });
    assert!(error.to_string().ends_with("at most 67108864 are allowed in MSCCL XML; round the sizes up"), "{error}");
}
