//! NumPy's `.npy`: a header with type, order and shape, then the numbers.
//!
//! Versions 1 to 3 of the format; signed and unsigned integers of 1 to 8 bytes and floating-point numbers of 2, 4 and 8
//! bytes, of either byte order, in C or Fortran order. An array of truth values says only where something is sent.
//!
//! It is read without the crate npyz, which trusts a header: npyz 0.8.4 reserves as much memory as one of 12 bytes asks
//! for, up to 4 GiB, a shape whose product overflows panics, and 100,000 brackets overflow the stack; nor does it say
//! at which byte something is wrong.
//!
//! Source: NEP 1 and the documentation of `numpy.lib.format`.

mod element;
mod header;

use quantities::Bytes;

use super::error::{MatrixError, PlaceInFile, Problem};
use super::{Headings, Messages, TrafficMatrix, check_shape};
use header::NpyHeader;

/// Reads `content`; `file` is its name in error messages. A `True` is `entry` bytes.
///
/// # Errors
/// What was found that is not allowed, and where.
pub fn parse(file: &str, content: &[u8], entry: Bytes) -> Result<TrafficMatrix, MatrixError> {
    let fail = |(place, problem)| MatrixError { file: file.to_string(), place, problem };
    let (header, data) = header::parse(content).map_err(fail)?;
    let NpyHeader { element, fortran_order, rows, columns } = header;
    let ranks = check_shape(rows, columns, Headings::NONE).map_err(|problem| fail((PlaceInFile::File, problem)))?;
    let begin = content.len() - data.len();
    // At most 16384 x 16384 x 8 bytes.
    check_length(begin, data.len(), rows * columns * element.size()).map_err(fail)?;
    let mut messages = Messages::default();
    for (index, raw) in data.chunks_exact(element.size()).enumerate() {
        let (outer, inner) = (index / rows, index % rows);
        let (row, column) = if fortran_order { (inner, outer) } else { (outer, inner) };
        let place = PlaceInFile::ByteOfCell { byte: begin + index * element.size(), row, column };
        let value = element.bytes(raw, entry).map_err(|problem| fail((place, problem)))?;
        messages.add(row, column, value).map_err(|problem| fail((place, problem)))?;
    }
    let matrix = messages.matrix(ranks, Headings::NONE).map_err(|problem| fail((PlaceInFile::File, problem)))?;
    Ok(TrafficMatrix { has_sizes: !element.is_truth(), ..matrix })
}

fn check_length(begin: usize, found: usize, needed: usize) -> Result<(), (PlaceInFile, Problem)> {
    if found < needed {
        let problem =
            Problem::Truncated { found: format!("{found} bytes of numbers"), needed: format!("{needed} of them") };
        return Err((PlaceInFile::Byte(begin + found), problem));
    }
    if found > needed {
        let problem = Problem::format(format!("{} bytes after the last number", found - needed), "the end");
        return Err((PlaceInFile::Byte(begin + needed), problem));
    }
    Ok(())
}
