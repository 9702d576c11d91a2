//! What a file is, by its beginning: formats of this project and of other tools that people give to the wrong command.
//!
//! Readers ask when they have failed: a file that is none of these is told what is wrong in it, and one that is, what
//! it is and what reads it.

use std::path::Path;

use crate::{BoundedFile, Bytes};
use std::io::Read;

/// As much of a file is looked at. [B]
const LOOKED_AT: usize = 8 << 10;

/// A format of files.
#[derive(Debug)]
pub struct FileFormat {
    /// Its name, with an article.
    pub name: &'static str,
    /// What reads it, as a clause; nothing if no command does.
    reader: Option<&'static str>,
    is: fn(&Beginning<'_>) -> bool,
}

const RUN_TRACE: Option<&str> = Some("which `maquette run trace` reads");
const RUN_GOAL: Option<&str> = Some("which `maquette run goal` reads");
const TRAFFIC: Option<&str> = Some("which `--traffic` of `maquette schedule` and `maquette run all-to-all` reads");

/// A row of the table below.
macro_rules! formats {
    ($($name:literal, $reader:expr, $is:expr;)+) => {
        &[$(FileFormat { name: $name, reader: $reader, is: $is }),+]
    };
}

/// All formats, the most certain first.
const FORMATS: &[FileFormat] = formats! {
    // By their first bytes.
    "a trace of DUMPI in binary form",
        Some("which `dumpi2ascii` of sst-dumpi turns into the text that `maquette run trace` reads"),
        |file| file.starts_with(b"\xff\xaa\xdd\x44\x55\x4d\x50\x49");
    "the trace of a rank by `maquette trace`",
        Some("whose folder `maquette run trace` reads"),
        |file| file.starts_with(b"maqtrace");
    "a GOAL schedule in binary form", RUN_GOAL, |file| file.starts_with(&4223_u64.to_le_bytes());
    "an array of NumPy", TRAFFIC, |file| file.starts_with(b"\x93NUMPY");
    "packets captured in pcap", None, |file| PCAP.iter().any(|magic| file.starts_with(magic));
    "packets captured in pcapng",
        None,
        |file| file.starts_with(b"\x0a\x0d\x0d\x0a") && file.bytes.get(8..12).is_some_and(is_order_of_bytes);
    "a file compressed by gzip", Some("which `gunzip` unpacks"), |file| file.starts_with(b"\x1f\x8b");
    "a file compressed by zstd", Some("which `unzstd` unpacks"), |file| file.starts_with(b"\x28\xb5\x2f\xfd");
    "a file compressed by xz", Some("which `unxz` unpacks"), |file| file.starts_with(b"\xfd7zXZ\0");
    "an archive in zip", Some("which `unzip` unpacks"), |file| file.starts_with(b"PK\x03\x04");
    "an executable program", None, |file| file.starts_with(b"\x7fELF");
    "an execution trace of Chakra", None, |file| file.is_chakra();
    // By the first element of XML.
    "a network in GraphML", None, |file| file.root() == Some("graphml");
    "an algorithm of MSCCL in XML",
        Some("which `maquette schedule --read` and `maquette run schedule` read if `maquette schedule` wrote it"),
        |file| file.root() == Some("algo");
    "the topology of a host by NCCL in XML", None, |file| file.root() == Some("system");
    "the channels of a host by NCCL in XML", None, |file| file.root() == Some("graphs");
    "a platform of SimGrid in XML", None, |file| file.root() == Some("platform");
    // By their first lines.
    "a matrix in Matrix Market's format",
        TRAFFIC,
        |file| file.first_line().is_some_and(|line| begins(line, "%%MatrixMarket"));
    "an InfiniBand fabric by ibnetdiscover", None, |file| file.is_ibnetdiscover();
    "Slurm's topology.conf",
        None,
        |file| file.statement().is_some_and(|line| begins(line, "SwitchName=") || begins(line, "BlockName="));
    "Slurm's topology.yaml",
        None,
        |file| file.statement().is_some_and(|line| line == "- topology:" || line.starts_with("- topology: "));
    "a fabric of InfraGraph in YAML", None, |file| file.statement() == Some("infrastructure:");
    "a network of BookSim's anynet", None, |file| file.is_anynet();
    "a topology of htsim", None, |file| file.begins_with_counts("Nodes", "Tiers");
    "a connection matrix of htsim", None, |file| file.begins_with_counts("Nodes", "Connections");
    "an execution plan of MSCCL++ in JSON",
        None,
        |file| file.is_object_with(&["\"collective\"", "\"protocol\"", "\"gpus\""]);
    "a schedule of `maquette schedule --write`",
        Some("which `maquette run schedule` and `maquette schedule --read` read"),
        |file| file.is_object_with(&["\"maquette-schedule-1\""]);
    "a GOAL schedule", RUN_GOAL, |file| file.statement().is_some_and(|line| numbers_after(line, "num_ranks"));
    "a trace of DUMPI as text", RUN_TRACE, |file| file.lines().any(|line| line.contains(" entering at walltime "));
    "a trace of liballprof",
        RUN_TRACE,
        |file| file.statement().is_some_and(|line| line.starts_with("MPI_Init") && line.contains(':'));
    "a time-independent trace of SimGrid", RUN_TRACE, |file| file.statement().is_some_and(is_action);
};

/// The first bytes of pcap, in both orders of bytes, with times in microseconds and in nanoseconds.
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];

/// Whether these are what pcapng has fifth, in either order of bytes.
fn is_order_of_bytes(bytes: &[u8]) -> bool {
    [[0x4d, 0x3c, 0x2b, 0x1a], [0x1a, 0x2b, 0x3c, 0x4d]].iter().any(|magic| bytes == magic)
}

impl FileFormat {
    /// The format of a file with this content, of which the beginning is enough.
    pub fn of(content: &[u8]) -> Option<&'static FileFormat> {
        let beginning = Beginning::new(content);
        FORMATS.iter().find(|format| (format.is)(&beginning))
    }

    /// The format of the file `path`; nothing if it is not a plain file or can't be read.
    pub fn of_file(path: &Path) -> Option<&'static FileFormat> {
        // Nothing else can be read a second time.
        if !path.is_file() {
            return None;
        }
        let mut content = Vec::new();
        let file = BoundedFile::open(path, Bytes(u64::MAX - 1)).ok()?;
        file.take(LOOKED_AT as u64).read_to_end(&mut content).ok()?;
        FileFormat::of(&content)
    }

    /// Whether `reader`, a command, reads it: then it is not of another format, but wrong.
    pub fn is_read_by(&self, reader: &str) -> bool {
        self.reader.is_some_and(|clause| clause.contains(reader))
    }

    /// What is wrong with such a file where `allowed` is something else.
    pub fn instead_of(&self, allowed: &str) -> String {
        format!("found {}, {}; allowed is {allowed}", self.name, self.reader.unwrap_or("which no command reads"))
    }
}

/// The beginning of a file.
struct Beginning<'file> {
    bytes: &'file [u8],
    /// As much of it as is text; a character may be cut at the end.
    text: &'file str,
}

impl<'file> Beginning<'file> {
    fn new(content: &'file [u8]) -> Beginning<'file> {
        let bytes = content.get(..LOOKED_AT).unwrap_or(content);
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        Beginning { bytes, text: valid.trim_start_matches('\u{feff}') }
    }

    fn starts_with(&self, magic: &[u8]) -> bool {
        self.bytes.starts_with(magic)
    }

    /// Lines that are not empty.
    fn lines(&self) -> impl Iterator<Item = &'file str> + use<'file> {
        self.text.lines().map(str::trim).filter(|line| !line.is_empty())
    }

    fn first_line(&self) -> Option<&'file str> {
        self.lines().next()
    }

    /// The first line that is neither empty nor a comment, nor the mark that begins a document of YAML.
    fn statement(&self) -> Option<&'file str> {
        self.lines().find(|line| !line.starts_with('#') && !line.starts_with("//") && *line != "---")
    }

    /// The name of the first element, if this is XML.
    fn root(&self) -> Option<&'file str> {
        let mut rest = self.text.trim_start();
        loop {
            rest = rest.strip_prefix('<')?;
            // A declaration, a comment, or a type of document comes first.
            let end = match rest.as_bytes().first()? {
                b'?' => "?>",
                b'!' if rest.starts_with("!--") => "-->",
                // A type of document may declare what it likes in brackets.
                b'!' if rest.find('[') < rest.find('>') && rest.contains('[') => "]>",
                b'!' => ">",
                _ => {
                    let name = rest
                        .split(|character: char| character.is_whitespace() || matches!(character, '>' | '/'))
                        .next()?;
                    return Some(name.rsplit(':').next().unwrap_or(name));
                }
            };
            rest = rest.split_once(end)?.1.trim_start();
        }
    }

    fn is_ibnetdiscover(&self) -> bool {
        let dump = ["switchguid=0x", "caguid=0x", "rtguid=0x", "vendid=0x"];
        self.first_line().is_some_and(|line| line.starts_with('#'))
            && self.lines().any(|line| line.starts_with("# Topology file: generated on"))
            || self.statement().is_some_and(|line| dump.iter().any(|field| line.starts_with(field)))
    }

    /// Whether every line is a router and then nodes and routers, each with a number.
    fn is_anynet(&self) -> bool {
        self.statement().is_some_and(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let named = |pair: &[&str]| matches!(pair[0], "router" | "node") && pair[1].parse::<u32>().is_ok();
            words.len() >= 4 && words[0] == "router" && words.chunks_exact(2).take(2).all(named)
        })
    }

    /// Whether its first two statements are these words, each with a number.
    fn begins_with_counts(&self, first: &str, second: &str) -> bool {
        let mut statements = self.lines().filter(|line| !line.starts_with('#'));
        let mut next = |word| statements.next().is_some_and(|line| numbers_after(line, word));
        next(first) && next(second)
    }

    /// Whether it is an object of JSON in which these occur.
    fn is_object_with(&self, parts: &[&str]) -> bool {
        self.first_line().is_some_and(|line| line.starts_with('{')) && parts.iter().all(|part| self.text.contains(part))
    }

    /// Whether it is a sequence of messages of protobuf, each after its length, of which the first tells the version or
    /// the schema.
    fn is_chakra(&self) -> bool {
        let Some((length, rest)) = varint(self.bytes) else { return false };
        let message = rest.get(..usize::try_from(length).unwrap_or(usize::MAX)).unwrap_or(rest);
        match message {
            // Field 1, the version: a string.
            [0x0a, rest @ ..] => {
                string(rest).is_some_and(|text| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
            }
            // Field 2, an attribute, whose field 1 is its name.
            [0x12, rest @ ..] => {
                let name = string(rest).and_then(|attribute| attribute.strip_prefix(&[0x0a])).and_then(string);
                name == Some(&b"schema"[..])
            }
            _ => false,
        }
    }
}

/// Whether `line` begins with `word`, however it is capitalised.
fn begins(line: &str, word: &str) -> bool {
    line.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
}

/// Whether a line is `word` and a number.
fn numbers_after(line: &str, word: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some(word) && words.next().is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Whether a line is a rank and one of the actions with which a trace begins.
fn is_action(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = ["init", "compute", "send", "isend", "recv", "irecv", "barrier", "bcast", "allreduce"];
    words.next().is_some_and(|rank| rank.parse::<u32>().is_ok())
        && words.next().is_some_and(|action| first.iter().any(|known| action.eq_ignore_ascii_case(known)))
}

/// The number at the beginning, seven bits a byte, and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

/// The bytes of a field that begins with their number.
fn string(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = varint(bytes)?;
    rest.get(..usize::try_from(length).ok()?).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::FileFormat;

    const KNOWN: &[(&[u8], &str)] = &[
        (b"\xff\xaa\xdd\x44UMPI\0\0", "a trace of DUMPI in binary form"),
        (b"maqtrace\x01", "the trace of a rank by `maquette trace`"),
        (b"\x7f\x10\0\0\0\0\0\0\x02\0\0\0", "a GOAL schedule in binary form"),
        (b"\x93NUMPY\x01\0", "an array of NumPy"),
        (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "packets captured in pcap"),
        (b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a", "packets captured in pcapng"),
        (b"\x07\x0a\x050.0.4H\x12\x14all", "an execution trace of Chakra"),
        (b"\xda\x03\x12\x0c\x0a\x06schema\xea\x01\x0bx", "an execution trace of Chakra"),
        (b"<?xml version=\"1.0\"?>\n<graphml xmlns=\"x\"><graph/></graphml>", "a network in GraphML"),
        (b"<!-- ours -->\n<!DOCTYPE algo>\n<algo name=\"a\">", "an algorithm of MSCCL in XML"),
        (b"<!DOCTYPE algo [<!ENTITY a \"b\">]>\n<algo name=\"a\">", "an algorithm of MSCCL in XML"),
        (b"\xef\xbb\xbf<system version=\"1\"><cpu/>", "the topology of a host by NCCL in XML"),
        (b"<graphs version=\"1\">", "the channels of a host by NCCL in XML"),
        (b"<platform version=\"4.1\">", "a platform of SimGrid in XML"),
        (b"%%matrixmarket matrix coordinate real general\n", "a matrix in Matrix Market's format"),
        (b"#\n# Topology file: generated on Thu\n#\nvendid=0x2c9\n", "an InfiniBand fabric by ibnetdiscover"),
        (b"vendid=0x2c9\ndevid=0xd2f2\n", "an InfiniBand fabric by ibnetdiscover"),
        (b"# tree\nSwitchName=leaf1 Nodes=n[1-4]\n", "Slurm's topology.conf"),
        (b"---\n- topology: tree\n", "Slurm's topology.yaml"),
        (b"infrastructure:\n  name: two tiers\n", "a fabric of InfraGraph in YAML"),
        (b"router 0 node 0 node 1 router 1\n", "a network of BookSim's anynet"),
        (b"# tiny\nNodes 32\nTiers 2\n", "a topology of htsim"),
        (b"Nodes 16\nConnections 1\n0->13 start 0 size 2\n", "a connection matrix of htsim"),
        (b"{\n\"collective\": \"a\", \"protocol\": \"LL\",\n\"gpus\": []}", "an execution plan of MSCCL++ in JSON"),
        (b"{\"format\": \"maquette-schedule-1\"}", "a schedule of `maquette schedule --write`"),
        (b"// a ring\nnum_ranks 4\n", "a GOAL schedule"),
        (b"MPI_Init entering at walltime 1.5, cputime 0.1\n", "a trace of DUMPI as text"),
        (b"# tracer\nMPI_Init:-:0:0:10\n", "a trace of liballprof"),
        (b"0 init\n0 compute 5\n", "a time-independent trace of SimGrid"),
    ];

    #[test]
    fn each_format_is_known_by_its_beginning() {
        for (content, name) in KNOWN {
            let found = FileFormat::of(content).map(|format| format.name);
            assert_eq!(found, Some(*name), "{}", String::from_utf8_lossy(content));
        }
    }

    #[test]
    fn what_is_none_of_them_is_not_named() {
        let ours = [
            "",
            "\n",
            "name = \"m\"\n[topology]\nkind = \"tree\"\n",
            "1,2\n3,4\n",
            "{\"machine\": \"delta\"}",
            "0 1 2",
            "<",
        ];
        for content in ours {
            assert!(FileFormat::of(content.as_bytes()).is_none(), "{content}");
        }
        for content in
            [&b"\x00\xff\xfe\x80"[..], b"\xff", b"<!--", b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", b"\x05\x0a\xff"]
        {
            assert!(FileFormat::of(content).is_none(), "{content:?}");
        }
    }

    #[test]
    fn a_file_is_told_what_it_is_and_what_reads_it() {
        let message = |content: &[u8]| FileFormat::of(content).unwrap().instead_of("a machine");
        assert_eq!(
            message(b"num_ranks 4\n"),
            "found a GOAL schedule, which `maquette run goal` reads; allowed is a machine"
        );
        assert_eq!(message(b"<graphml>"), "found a network in GraphML, which no command reads; allowed is a machine");
    }
}
