//! Traffic matrices: files written by NumPy, SciPy and people are read, and any other content is one clear error.

use std::path::{Path, PathBuf};

use collectives::schedule::Pattern;
use maquette_formats::traffic_matrix::{self, TrafficMatrix, csv, matrix_market, npy};
use proptest::prelude::*;
use quantities::{Bytes, Rank};

/// The matrix in most of the files.
const GENERAL: [u64; 16] = [0, 1024, 0, 64, 512, 0, 0, 0, 0, 8, 0, 65_536, 1, 0, 2, 0];
/// The matrix in the symmetric files.
const SYMMETRIC: [u64; 16] = [0, 3, 0, 7, 3, 0, 9, 0, 0, 9, 0, 1, 7, 0, 1, 0];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traffic_matrix").join(name)
}

/// All cells, row by row. [B]
fn cells(pattern: &Pattern) -> Vec<u64> {
    let ranks = || (0..pattern.ranks()).map(Rank);
    ranks().flat_map(|from| ranks().map(move |to| pattern.bytes(from, to).0)).collect()
}

/// The cells, and whether row and column names were left out.
fn named(matrix: &TrafficMatrix) -> (Vec<u64>, bool, bool) {
    (cells(&matrix.pattern), matrix.headings.row, matrix.headings.column)
}

fn read(name: &str) -> TrafficMatrix {
    traffic_matrix::read(&file(name), Bytes(7)).unwrap_or_else(|error| panic!("{error}")).0
}

#[test]
fn files_of_numpy_and_scipy_are_read() {
    let names = ["numpy-little-i8.npy", "numpy-big-i4.npy", "numpy-little-f8.npy", "numpy-big-f4.npy"];
    let more = ["numpy-fortran.npy", "numpy-version-2.npy", "numpy-version-3.npy", "numpy.csv", "numpy-scientific.csv"];
    let market = ["scipy-coordinate.mtx", "scipy-real.mtx", "scipy-array.mtx"];
    for name in names.iter().chain(&more).chain(&market) {
        assert_eq!(cells(&read(name).pattern), GENERAL, "{name}");
    }
    for name in ["scipy-symmetric.mtx", "scipy-symmetric-array.mtx"] {
        assert_eq!(cells(&read(name).pattern), SYMMETRIC, "{name}");
    }
    let small = GENERAL.map(|bytes| bytes.min(200));
    for name in ["numpy-u1.npy", "numpy-little-u2.npy", "numpy-little-f2.npy"] {
        assert_eq!(cells(&read(name).pattern), small, "{name}");
    }
}

#[test]
fn where_only_a_place_is_given_the_size_is_the_callers() {
    let given = GENERAL.map(|bytes| if bytes > 0 { 7 } else { 0 });
    assert_eq!(cells(&read("scipy-pattern.mtx").pattern), given);
    assert_eq!(cells(&read("numpy-truth.npy").pattern), given);
}

#[test]
fn names_above_and_beside_are_left_out_with_a_note() {
    for (name, row, column) in [("names.csv", true, true), ("counted.csv", true, true), ("numpy.csv", false, false)] {
        assert_eq!(named(&read(name)), (GENERAL.to_vec(), row, column), "{name}");
    }
    let parse = |text: &str| named(&csv::parse("a.csv", text.as_bytes()).unwrap());
    assert_eq!(parse("a,b\n0,1\n2,0\n"), (vec![0, 1, 2, 0], true, false));
    assert_eq!(parse("a\t0\t1\nb\t2\t0\n"), (vec![0, 1, 2, 0], false, true));
    assert_eq!(parse("rank,1,2\n1,0,1\n2,2,0\n"), (vec![0, 1, 2, 0], true, true));
    // R writes no name above the row names.
    assert_eq!(parse("a,b\na,0,1\nb,2,0\n"), (vec![0, 1, 2, 0], true, true));
    // A first row that does not count up holds numbers, though its corner is empty.
    assert_eq!(parse(",1,3\n1,,3\n2,1,\n"), (vec![0, 1, 3, 1, 0, 3, 2, 1, 0], false, false));
}

/// The error printed for a text that is not allowed, after `a.csv` or the like.
fn error_of(parse: impl Fn() -> Result<TrafficMatrix, traffic_matrix::MatrixError>) -> String {
    match parse() {
        Ok(matrix) => panic!("{matrix:?} was read"),
        Err(error) => error.to_string(),
    }
}

const SQUARE: &str = "allowed is a square matrix, with a row and a column for each rank";
const NUMBER: &str = "allowed is a whole number of bytes from 0 to 68719476736";

#[test]
fn mistakes_in_csv_are_reported_with_their_place() {
    for (text, expected) in [
        ("0,1,2\n3,0,4\n", format!("a.csv: found 2 x 3 (rows x columns); {SQUARE}")),
        ("0,1\n3,0\n4,5\n", format!("a.csv: found 3 x 2 (rows x columns); {SQUARE}")),
        ("0,x1\n3,0\n", format!("a.csv:1: row 1, column 2 (rank 0 to rank 1): found `x1`; {NUMBER}")),
        ("a,b\n0,1\n2,0\n3,4\n", format!("a.csv: found 3 x 2 (rows x columns) beside a row of names; {SQUARE}")),
        ("0,1\n3\n", "a.csv:2: found a row of length 1; allowed is length 2, as in the row before".to_string()),
        ("# a\n0,-5\n\n3,0\n", format!("a.csv:2: row 1, column 2 (rank 0 to rank 1): found `-5`; {NUMBER}")),
        ("0,1\nnan,0\n", format!("a.csv:2: row 2, column 1 (rank 1 to rank 0): found `nan`; {NUMBER}")),
        ("0,1\n0.5,0\n", format!("a.csv:2: row 2, column 1 (rank 1 to rank 0): found `0.5`; {NUMBER}")),
        ("0,1\ntwo,0\n", format!("a.csv:2: row 2, column 1 (rank 1 to rank 0): found `two`; {NUMBER}")),
        ("0,\"1\n3,0\n", "a.csv:1: found a quotation mark before `1` and none after it; allowed is both".to_string()),
        ("0,\"1\"2\n3,0\n", "a.csv:1: found `2` after a quotation mark; allowed is the next cell".to_string()),
        ("", "a.csv: found a matrix of 0 ranks; allowed is 1 to 16384".to_string()),
    ] {
        assert_eq!(error_of(|| csv::parse("a.csv", text.as_bytes())), expected, "{text:?}");
    }
    assert!(error_of(|| csv::parse("a.csv", &[0, 0xFF])).ends_with("allowed is text in UTF-8"));
    assert!(error_of(|| csv::parse("a.csv", "0,".repeat(20_000).as_bytes())).contains("found 1 x 16386"));
    assert!(error_of(|| csv::parse("a.csv", "0\n".repeat(20_000).as_bytes())).contains("found 16386 x 1"));
}

#[test]
fn mistakes_in_matrix_market_are_reported_with_their_place() {
    let general = "%%MatrixMarket matrix coordinate integer general\n";
    for (text, expected) in [
        (
            "".to_string(),
            "a.mtx:1: found ``; allowed is `%%MatrixMarket matrix` and then the format, the field and the symmetry",
        ),
        (
            "%%MatrixMarket matrix array pattern general\n".to_string(),
            "a.mtx:1: found `array` with `pattern`; allowed is `coordinate` with it, as an array has a value everywhere",
        ),
        (general.to_string(), "a.mtx: it ends after the heading; allowed is a line with the size"),
        (format!("{general}2 2\n"), "a.mtx:2: found `2 2`; allowed is the number of rows, of columns and of entries"),
        (
            format!("{general}2 3 1\n1 2 5\n"),
            "a.mtx:2: found 2 x 3 (rows x columns); allowed is a square matrix, with a row and a column for each rank",
        ),
        (format!("{general}99999 99999 0\n"), "a.mtx:2: found a matrix of 99999 ranks; allowed is 1 to 16384"),
        (format!("{general}2 2 2\n1 2 5\n"), "a.mtx: it ends after 1 entries; allowed is 2, as the size says"),
        (
            format!("{general}2 2 1\n1 2 5\n2 1 5\n"),
            "a.mtx:4: found more than 1 entries; allowed is as many as the size says",
        ),
        (format!("{general}2 2 1\n1 3 5\n"), "a.mtx:3: found `3`; allowed is a row or a column from 1 to 2"),
        (format!("{general}2 2 1\n1 2\n"), "a.mtx:3: found `1 2`; allowed is a row, a column and a value"),
        (
            format!("{general}2 2 1\n1 2 -5\n"),
            "a.mtx:3: row 1, column 2 (rank 0 to rank 1): found `-5`; allowed is a whole number of bytes from 0 to 68719476736",
        ),
        (
            format!("{general}2 2 2\n1 2 5\n1 2 6\n"),
            "a.mtx:4: row 1, column 2 (rank 0 to rank 1): found it a second time; allowed is once",
        ),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 5\n".to_string(),
            "a.mtx:3: found an entry above the diagonal; allowed is the lower triangle of a symmetric matrix",
        ),
        (
            "%%MatrixMarket matrix array real general\n2 2\n0 1 2\n".to_string(),
            "a.mtx: it ends after 3 entries; allowed is 4, as the size says",
        ),
    ] {
        assert_eq!(error_of(|| matrix_market::parse("a.mtx", text.as_bytes(), Bytes(1))), expected, "{text:?}");
    }
}

/// An array of 8-byte numbers with `header` in place of a good one.
fn array(header: &str, data: &[u64]) -> Vec<u8> {
    let mut content = b"\x93NUMPY\x01\x00".to_vec();
    content.extend((header.len() as u16).to_le_bytes());
    content.extend(header.bytes());
    content.extend(data.iter().flat_map(|number| number.to_le_bytes()));
    content
}

#[test]
fn mistakes_in_npy_are_reported_with_their_place() {
    let good = "{'descr': '<u8', 'fortran_order': False, 'shape': (2, 2), }";
    assert_eq!(cells(&npy::parse("a.npy", &array(good, &[0, 1, 2, 0]), Bytes(1)).unwrap().pattern), [0, 1, 2, 0]);
    let float = good.replace("u8", "f8");
    for (content, expected) in [
        (
            b"PK\x03\x04".to_vec(),
            "a.npy: at byte 0: found something else; allowed is the letters with which .npy files begin",
        ),
        (b"\x93NUMPY\x09\x01..".to_vec(), "a.npy: at byte 6: found version 9.1; allowed is version 1.0, 2.0 or 3.0"),
        (b"\x93NUMPY\x01\x00\x76".to_vec(), "a.npy: at byte 9: it ends after 9 bytes; allowed is a length"),
        (
            b"\x93NUMPY\x01\x00\x76\x00{'de".to_vec(),
            "a.npy: at byte 14: it ends after 14 bytes; allowed is a header as long as it says",
        ),
        (array(good, &[0, 1, 2]), "a.npy: at byte 93: it ends after 24 bytes of numbers; allowed is 32 of them"),
        (array(good, &[0, 1, 2, 0, 0]), "a.npy: at byte 101: found 8 bytes after the last number; allowed is the end"),
        (
            array(good, &[0, 1 << 60, 2, 0]),
            "a.npy: at byte 77: row 1, column 2 (rank 0 to rank 1): found 1152921504606846976; allowed is a whole number of bytes from 0 to 68719476736",
        ),
        (
            array(&float, &[0, f64::INFINITY.to_bits(), 2, 0]),
            "a.npy: at byte 77: row 1, column 2 (rank 0 to rank 1): found inf; allowed is a whole number of bytes from 0 to 68719476736",
        ),
        (
            array(&good.replace("(2, 2)", "(2, 3)"), &[0; 6]),
            "a.npy: found 2 x 3 (rows x columns); allowed is a square matrix, with a row and a column for each rank",
        ),
        (
            array(&good.replace("(2, 2)", "(4,)"), &[0; 4]),
            "a.npy: at byte 61: found an array of 1 dimensions; allowed is a matrix, which has 2",
        ),
        (
            array(&good.replace("<u8", "<c16"), &[0; 8]),
            "a.npy: at byte 20: found `<c16`; allowed is whole numbers (i1 to i8, u1 to u8), floating-point numbers (f2, f4, f8) or truth values (b1), after < or >",
        ),
        (
            array(&good.replace("'<u8'", "[('a', '<u8')]"), &[0; 4]),
            "a.npy: at byte 20: found a type of several fields; allowed is whole numbers (i1 to i8, u1 to u8), floating-point numbers (f2, f4, f8) or truth values (b1), after < or >",
        ),
        (
            array(&good.replace("False", "0"), &[0; 4]),
            "a.npy: at byte 44: found `0, 'shape': (2, 2), }`; allowed is True or False",
        ),
        (
            array("{'descr': '<u8', 'shape': (2, 2)}", &[0; 4]),
            "a.npy: at byte 43: found a header without it; allowed is a header with `fortran_order`",
        ),
    ] {
        assert_eq!(error_of(|| npy::parse("a.npy", &content, Bytes(1))), expected);
    }
}

#[test]
fn mistakes_in_fields_and_symmetries_of_matrix_market_are_reported() {
    for (text, expected) in [
        (
            "%%MatrixMarket matrix coordinate quaternion general\n".to_string(),
            "a.mtx:1: found `quaternion`; allowed is one of integer, real, double, complex, pattern",
        ),
        (
            "%%MatrixMarket matrix coordinate real lower\n".to_string(),
            "a.mtx:1: found `lower`; allowed is one of general, symmetric, skew-symmetric, hermitian",
        ),
        (
            "%%MatrixMarket matrix coordinate real hermitian\n".to_string(),
            "a.mtx:1: found `hermitian` with `real`; allowed is `complex` with it",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern skew-symmetric\n".to_string(),
            "a.mtx:1: found `skew-symmetric` with `pattern`; allowed is `symmetric` or `general` with it",
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 5\n".to_string(),
            "a.mtx:3: found an entry on the diagonal; allowed is none, as that of a skew-symmetric matrix is zero",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 5\n".to_string(),
            "a.mtx:3: found `1 2 5`; allowed is a row, a column and a value of two numbers",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 5 nan\n".to_string(),
            "a.mtx:3: row 1, column 2 (rank 0 to rank 1): found `nan`; allowed is a number",
        ),
    ] {
        assert_eq!(error_of(|| matrix_market::parse("a.mtx", text.as_bytes(), Bytes(1))), expected, "{text:?}");
    }
}

/// What ranks send each other, and what each has for itself.
fn with_own(matrix: &TrafficMatrix) -> (Vec<u64>, Vec<u64>, bool) {
    let own = (0..matrix.pattern.ranks()).map(|rank| matrix.pattern.own(Rank(rank)).0).collect();
    (cells(&matrix.pattern), own, matrix.has_sizes)
}

#[test]
fn what_is_on_the_diagonal_stays_at_its_rank_in_every_format() {
    let expected = (vec![0, 1, 3, 0], vec![7, 9], true);
    let csv = csv::parse("a.csv", b"7,1\n3,9\n").unwrap();
    assert_eq!(with_own(&csv), expected);
    assert_eq!((csv.pattern.own_in_all(), csv.pattern.messages().len()), (Bytes(16), 2));
    let text = "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 7\n1 2 1\n2 1 3\n2 2 9\n";
    assert_eq!(with_own(&matrix_market::parse("a.mtx", text.as_bytes(), Bytes(1)).unwrap()), expected);
    let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (2, 2), }";
    assert_eq!(with_own(&npy::parse("a.npy", &array(header, &[7, 1, 3, 9]), Bytes(1)).unwrap()), expected);
}

#[test]
fn every_field_and_symmetry_of_matrix_market_is_what_the_format_says() {
    let read = |heading: &str, body: &str| {
        let text = format!("%%MatrixMarket matrix {heading}\n{body}\n");
        with_own(&matrix_market::parse("a.mtx", text.as_bytes(), Bytes(8)).unwrap_or_else(|error| panic!("{error}")))
    };
    for (heading, body, between, own, has_sizes) in [
        ("coordinate real symmetric", "2 2 3\n1 1 4\n2 1 5\n2 2 6", [0, 5, 5, 0], [4, 6], true),
        ("coordinate pattern symmetric", "2 2 2\n1 1\n2 1", [0, 8, 8, 0], [8, 0], false),
        ("coordinate integer skew-symmetric", "2 2 1\n2 1 -5", [0, 8, 8, 0], [0, 0], false),
        ("coordinate complex hermitian", "2 2 2\n1 1 4 0\n2 1 1 -2.5", [0, 8, 8, 0], [8, 0], false),
        ("coordinate complex symmetric", "2 2 1\n2 1 0 0", [0, 0, 0, 0], [0, 0], false),
        ("coordinate complex general", "2 2 1\n1 2 -1e3 4", [0, 8, 0, 0], [0, 0], false),
        ("array real symmetric", "2 2\n4\n5\n6", [0, 5, 5, 0], [4, 6], true),
        ("array real skew-symmetric", "2 2\n-0.5", [0, 8, 8, 0], [0, 0], false),
        ("array complex hermitian", "2 2\n4 0\n1 2\n0 0", [0, 8, 8, 0], [8, 0], false),
        ("array complex general", "2 2\n0 0 0 1\n1 0 0 0", [0, 8, 8, 0], [0, 0], false),
    ] {
        assert_eq!(read(heading, body), (between.to_vec(), own.to_vec(), has_sizes), "{heading}");
    }
}

#[test]
fn a_file_of_another_kind_is_named() {
    let folder = std::env::temp_dir().join(format!("maquette-matrices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read = |name: &str, content: &str| {
        std::fs::write(folder.join(name), content).unwrap();
        traffic_matrix::read(&folder.join(name), Bytes(1)).map(|(matrix, _)| cells(&matrix.pattern))
    };
    for name in ["perm.cm", "perm.csv", "perm"] {
        let error = read(name, "Nodes 2\nConnections 1\n0->1 id 1 start 0 size 5\n").unwrap_err().to_string();
        assert!(
            error.contains("found a connection matrix of htsim, which no command reads; allowed is a matrix"),
            "{error}"
        );
    }
    // The content says what the name does not.
    let text = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n";
    assert_eq!(read("matrix.txt", text), Ok(vec![0, 5, 0, 0]));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let read = |name: &str| error_of(|| traffic_matrix::read(&file(name), Bytes(1)).map(|read| read.0));
    assert!(read("matrix.xlsx").ends_with("allowed is .csv, .mtx (Matrix Market) or .npy (NumPy)"));
    assert!(read("matrix").ends_with("allowed is .csv, .mtx (Matrix Market) or .npy (NumPy)"));
    assert!(read("missing.csv").contains("missing.csv: cannot be read: "));
}

/// A matrix in Matrix Market format.
fn market(rows: &[Vec<u64>], array: bool) -> String {
    let ranks = rows.len();
    let cells = || (0..ranks).flat_map(|column| (0..ranks).map(move |row| (row, column)));
    if array {
        let values: String = cells().map(|(row, column)| format!("{}\n", rows[row][column])).collect();
        return format!("%%MatrixMarket matrix array integer general\n{ranks} {ranks}\n{values}");
    }
    let full: Vec<(usize, usize)> = cells().filter(|&(row, column)| rows[row][column] > 0).collect();
    let entries: String =
        full.iter().map(|&(row, column)| format!("{} {} {}\n", row + 1, column + 1, rows[row][column])).collect();
    format!("%%MatrixMarket matrix coordinate integer general\n% any\n{ranks} {ranks} {}\n{entries}", full.len())
}

prop_compose! {
    fn a_matrix()(ranks in 1_usize..9)(
        ranks in Just(ranks),
        cells in prop::collection::vec(prop_oneof![Just(0), 0_u64..=64 << 30], ranks * ranks),
    ) -> Vec<Vec<u64>> {
        let cell = |row: usize, column: usize| if row == column { 0 } else { cells[row * ranks + column] };
        (0..ranks).map(|row| (0..ranks).map(|column| cell(row, column)).collect()).collect()
    }
}

proptest! {
    #[test]
    fn a_matrix_is_the_same_in_every_format(rows in a_matrix()) {
        let flat: Vec<u64> = rows.concat();
        for array in [false, true] {
            let read = matrix_market::parse("a.mtx", market(&rows, array).as_bytes(), Bytes(1)).unwrap();
            prop_assert_eq!(cells(&read.pattern), &flat[..]);
        }
        let shape = format!("{{'shape': ({0}, {0}), 'fortran_order': False, 'descr': '<u8'}}\n", rows.len());
        let read = npy::parse("a.npy", &array(&shape, &flat), Bytes(1)).unwrap();
        prop_assert_eq!(cells(&read.pattern), &flat[..]);
        let mut written = Vec::new();
        csv::write(&read.pattern, &mut written).unwrap();
        prop_assert_eq!(csv::parse("a.csv", &written).unwrap().pattern, read.pattern);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = csv::parse("a.csv", &content);
        let _ = matrix_market::parse("a.mtx", &content, Bytes(1));
        let _ = npy::parse("a.npy", &content, Bytes(1));
    }

    /// A good file with some bytes changed and the end cut off.
    #[test]
    fn no_spoilt_file_makes_a_reader_panic(
        name in prop::sample::select(vec!["names.csv", "scipy-coordinate.mtx", "scipy-array.mtx", "numpy-big-f4.npy"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end in any::<prop::sample::Index>(),
    ) {
        let mut content = std::fs::read(file(name)).unwrap();
        for (place, byte) in changes {
            let place = place.index(content.len());
            content[place] = byte;
        }
        content.truncate(end.index(content.len() + 1));
        let _ = csv::parse("a.csv", &content);
        let _ = matrix_market::parse("a.mtx", &content, Bytes(1));
        let _ = npy::parse("a.npy", &content, Bytes(1));
    }
}
