//! The files of a trace: their formats and their ranks.

use std::fs;
use std::io::{BufReader, ErrorKind, Read};
use std::iter;
use std::path::{Path, PathBuf};

use formats::input::{self, DigestingReader, InputFile};
use quantities::{Bytes, FileFormat};
use replay::trace::{
    FORMATS, FileRanks, OperationRate, RankCalls, ReadError, Trace, TraceError, TraceFormat, file_name, lines,
};

use crate::Error;

/// The longest file accepted.
const LONGEST: Bytes = Bytes(1 << 30);
/// The most ranks of a trace.
const MOST_RANKS: u32 = 1 << 20;
/// The endings of files that other tools write beside their traces.
const BESIDE: [&str; 2] = ["meta", "bin"];

/// Reads the trace in the folder or file `path`; returns it with the digest of its contents. In traces that count
/// operations, this many `operations` take a second, or the default number.
///
/// # Errors
/// Files that can't be read, that contain no trace, or that do not fit together; a rate of operations for a trace that
/// has times.
pub(crate) fn read(path: &Path, requested: Option<OperationRate>) -> Result<(Trace, InputFile), Error> {
    let mut files = Files::default();
    let operations = requested.unwrap_or_default().as_f64();
    let ranks = if !path.is_dir() {
        files.of_file(path, operations)?
    } else if path.join(file_name(0)).exists() {
        files.recorded(path)?
    } else {
        files.of_other_tools(path, operations)?
    };
    if let Some(requested) = requested.filter(|_| !files.count_operations) {
        return Err(Error::parameter("operations", requested, "none, as the trace says for how long ranks computed"));
    }
    let trace = Trace::new(ranks)?;
    Ok((trace, InputFile::of_files(path, &files.read)))
}

/// The files that were read.
#[derive(Default)]
struct Files {
    read: Vec<InputFile>,
    /// Whether they record how much was computed, and not for how long.
    count_operations: bool,
}

impl Files {
    /// A folder written by `maquette trace`.
    fn recorded(&mut self, folder: &Path) -> Result<Vec<RankCalls>, Error> {
        let (calls, size) = self.rank(&folder.join(file_name(0)), 0, None)?;
        let mut ranks = vec![calls];
        for rank in 1..size {
            ranks.push(self.rank(&folder.join(file_name(rank)), rank, Some(size))?.0);
        }
        Ok(ranks)
    }

    /// The file of a rank of a trace of `expected` ranks, if already known; returned with their number.
    fn rank(&mut self, path: &Path, rank: u32, expected: Option<u32>) -> Result<(RankCalls, u32), Error> {
        let name = path.display().to_string();
        let wrong = |problem: String| Error::Trace(TraceError::of_file(&name, problem));
        if let Some(size) = expected.filter(|_| !path.exists()) {
            return Err(wrong(format!("missing: rank 0 says that there are {size} ranks")));
        }
        let unreadable = |cause| Error::Unreadable { path: path.to_path_buf(), cause };
        let mut content = DigestingReader::new(input::open(path, LONGEST).map_err(unreadable)?);
        let read = RankCalls::read(&name, BufReader::with_capacity(1 << 16, &mut content));
        let (calls, found, size) = read.map_err(|error| match error {
            ReadError::Unreadable(cause) => unreadable(cause),
            ReadError::Wrong(error) => Error::Trace(error),
        })?;
        self.read.push(InputFile::digested(path, &content));
        if found != rank {
            return Err(wrong(format!("found the calls of rank {found}; allowed are those of rank {rank}")));
        }
        if size == 0 || size > MOST_RANKS {
            return Err(wrong(format!("found a trace of {size} ranks; allowed are 1 to {MOST_RANKS}")));
        }
        match expected.filter(|&expected| expected != size) {
            Some(expected) => {
                Err(wrong(format!("found a trace of {size} ranks; allowed are {expected}, as at rank 0")))
            }
            None => Ok((calls, size)),
        }
    }

    /// A folder from another tool: the last number in the name of a file is its rank.
    fn of_other_tools(&mut self, folder: &Path, operations: f64) -> Result<Vec<RankCalls>, Error> {
        let unreadable = |cause| Error::Unreadable { path: folder.to_path_buf(), cause };
        let mut numbered = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let is_beside = path.extension().is_some_and(|extension| BESIDE.iter().any(|beside| extension == *beside));
            if let Some(rank) = last_number(&path).filter(|_| !is_beside && path.is_file()) {
                numbered.push((rank, path));
            }
        }
        numbered.sort_unstable();
        let wrong = |problem: String| TraceError::of_file(&folder.display().to_string(), problem);
        if numbered.is_empty() {
            let hint = "`maquette trace -- mpiexec -n 8 ./program` writes one";
            let problem =
                format!("found no `{}`; allowed is a folder with a trace, a file for each rank", file_name(0));
            return Err(wrong(problem).with_hint(hint).into());
        }
        if let Some((expected, (found, _))) = (0..).zip(&numbered).find(|(expected, (found, _))| expected != found) {
            return Err(wrong(format!("found a file of rank {found}, where that of rank {expected} is allowed")).into());
        }
        let paths: Vec<PathBuf> = numbered.into_iter().map(|(_, path)| path).collect();
        self.of_ranks(&paths, operations)
    }

    /// A file that contains all ranks, or lists the files of each.
    fn of_file(&mut self, path: &Path, operations: f64) -> Result<Vec<RankCalls>, Error> {
        if begins_with(path, b"maqtrace")? {
            let (calls, size) = self.rank(path, 0, None)?;
            let problem = format!("found one of {size} ranks; allowed is the folder with the files of all");
            let alone = TraceError::of_file(&path.display().to_string(), problem);
            return if size == 1 { Ok(vec![calls]) } else { Err(alone.into()) };
        }
        let text = self.text(path)?;
        let name = path.display().to_string();
        if lines(&text).next().is_none() {
            return Err(TraceError::of_file(&name, EMPTY).into());
        }
        let Some(format) = <dyn TraceFormat>::of(&text) else {
            return match FileFormat::of(text.as_bytes()) {
                Some(format) => Err(Error::of_other_format(path, format, &allowed_traces())),
                None => self.of_ranks(&listed(path, &text)?, operations),
            };
        };
        self.count_operations = format.counts_operations();
        let mut reader = format.reader(operations);
        reader.add(&name, &text, FileRanks::All)?;
        Ok(reader.finish()?)
    }

    /// Files of ranks, in order of rank.
    fn of_ranks(&mut self, paths: &[PathBuf], operations: f64) -> Result<Vec<RankCalls>, Error> {
        let size = paths.len() as u32;
        let mut reading = None;
        for (rank, path) in (0..).zip(paths) {
            let (name, text) = (path.display().to_string(), self.text(path)?);
            let wrong = |problem: String| Error::Trace(TraceError::of_file(&name, problem));
            if lines(&text).next().is_none() {
                return Err(wrong(EMPTY.to_owned()));
            }
            let format = <dyn TraceFormat>::of(&text).ok_or_else(|| {
                wrong(format!("found no calls of rank {rank}; allowed is a file with the calls of one rank"))
            })?;
            let (of_all, reader) = reading.get_or_insert_with(|| (format.name(), format.reader(operations)));
            if *of_all != format.name() {
                let found = format.name();
                return Err(wrong(format!("found a file of {found}; allowed is one of {of_all}, as that of rank 0")));
            }
            self.count_operations = format.counts_operations();
            reader.add(&name, &text, FileRanks::One { rank, size })?;
        }
        reading.map_or(Ok(Vec::new()), |(_, reader)| Ok(reader.finish()?))
    }

    fn text(&mut self, path: &Path) -> Result<String, Error> {
        let unreadable = |cause| Error::Unreadable { path: path.to_path_buf(), cause };
        let text = input::read_text(path, LONGEST).map_err(|cause| match cause.kind() {
            ErrorKind::InvalidData => Error::of_no_text(path, cause, &allowed_traces()),
            _ => unreadable(cause),
        })?;
        self.read.push(InputFile::new(path, text.as_bytes()));
        Ok(text)
    }
}

/// What is allowed.
fn allowed_traces() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    format!("a trace by `maquette trace`, or as text one of {}", names.join(", "))
}

/// What is wrong with a file that has no lines.
const EMPTY: &str = "empty: found no calls; allowed is a trace, or a list of the files of its ranks";

/// The files that `list` lists, whose text is `text`. A relative path begins at the list's folder; or, where not all of
/// them are there, at the nearest folder above it, since the tracer names them from where it was started; or else at
/// the working directory.
fn listed(list: &Path, text: &str) -> Result<Vec<PathBuf>, Error> {
    let name = list.display().to_string();
    let own = list.parent().unwrap_or(Path::new("")).to_path_buf();
    let above = std::path::absolute(&own).unwrap_or_else(|_| own.clone());
    let folders = iter::once(own.clone()).chain(above.ancestors().skip(1).map(Path::to_path_buf));
    let from = |folder: &Path| -> Vec<PathBuf> { lines(text).map(|line| folder.join(line)).collect() };
    let paths = folders
        .chain([PathBuf::new()])
        .map(|folder| from(&folder))
        .find(|paths| paths.iter().all(|path| path.is_file()));
    let Some(paths) = paths else {
        let missing = from(&own).into_iter().find(|path| !path.is_file()).unwrap_or_default();
        let problem =
            format!("found no trace, and no file `{}`; allowed is a trace, or a list of files", missing.display());
        let hint = "the paths in a list begin at its folder, at one above it, or at the working directory";
        return Err(TraceError::of_file(&name, problem).with_hint(hint).into());
    };
    let is_list = |path: &&PathBuf| match (path.canonicalize(), list.canonicalize()) {
        (Ok(path), Ok(list)) => path == list,
        _ => false,
    };
    match paths.iter().find(is_list) {
        Some(_) => {
            let problem = "the list names itself; allowed are the files of the ranks, a line for each";
            Err(TraceError::of_file(&name, problem).into())
        }
        None => Ok(paths),
    }
}

fn begins_with(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let unreadable = |cause| Error::Unreadable { path: path.to_path_buf(), cause };
    let mut found = Vec::new();
    let file = input::open(path, LONGEST).map_err(unreadable)?;
    file.take(bytes.len() as u64).read_to_end(&mut found).map_err(unreadable)?;
    Ok(found == bytes)
}

/// The last number in the name of a file.
fn last_number(path: &Path) -> Option<u32> {
    let name = path.file_stem()?.to_str()?;
    let end = name.rfind(|character: char| character.is_ascii_digit())? + 1;
    let start = name[..end].rfind(|character: char| !character.is_ascii_digit()).map_or(0, |place| place + 1);
    name[start..end].parse().ok()
}
