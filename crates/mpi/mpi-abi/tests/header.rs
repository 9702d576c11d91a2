//! The constants are equal to those of a library's header: `mpi_abi.h` in the Python environment of the working tree,
//! where `pip install mpich` puts it, or the one named by `MPI_ABI_HEADER`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use maquette_mpi_abi::*;

/// All constants of this crate, by name.
fn ours() -> BTreeMap<&'static str, i64> {
    let mut all = BTreeMap::from([
        ("MPI_DATATYPE_NULL", MPI_DATATYPE_NULL.0 as i64),
        ("MPI_BOTTOM", MPI_BOTTOM.addr() as i64),
        ("MPI_IN_PLACE", MPI_IN_PLACE.addr() as i64),
        ("MPI_BUFFER_AUTOMATIC", MPI_BUFFER_AUTOMATIC.addr() as i64),
        ("MPI_ARGV_NULL", MPI_ARGV_NULL.addr() as i64),
        ("MPI_ARGVS_NULL", MPI_ARGVS_NULL.addr() as i64),
        ("MPI_ERRCODES_IGNORE", MPI_ERRCODES_IGNORE.addr() as i64),
        ("MPI_STATUS_IGNORE", MPI_STATUS_IGNORE.addr() as i64),
        ("MPI_STATUSES_IGNORE", MPI_STATUSES_IGNORE.addr() as i64),
        ("MPI_UNWEIGHTED", MPI_UNWEIGHTED.addr() as i64),
        ("MPI_WEIGHTS_EMPTY", MPI_WEIGHTS_EMPTY.addr() as i64),
    ]);
    all.extend(MPI_Datatype::PREDEFINED.iter().map(|predefined| (predefined.name, predefined.datatype.0 as i64)));
    macro_rules! handles {
        ($($handle:ident)*) => {
            $(all.extend($handle::PREDEFINED.iter().map(|(name, handle)| (*name, handle.0 as i64)));)*
        };
    }
    handles!(MPI_Op MPI_Comm MPI_Group MPI_Win MPI_File MPI_Session MPI_Message MPI_Info MPI_Errhandler MPI_Request);
    let tables = [
        WILDCARDS,
        THREAD_LEVELS,
        COMPARISONS,
        TOPOLOGIES,
        SPLIT_TYPES,
        COMBINERS,
        TYPE_CLASSES,
        ARRAYS,
        MODES,
        SEEKS,
        WINDOWS,
        ATTRIBUTES,
        LENGTHS,
        VERSIONS,
        ERROR_CLASSES,
    ];
    all.extend(tables.into_iter().flatten().map(|&(name, value)| (name, i64::from(value))));
    all
}

/// The constants of a header: `#define NAME value` or `NAME = value`, where the value may be in parentheses after a
/// type. Those of the tools interface and of Fortran, pointers to functions, and extensions of the standard are left
/// out.
fn header(text: &str) -> BTreeMap<&str, i64> {
    let mut all = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.contains("_function") && !line.starts_with("/*")) {
        let Some((name, value)) = line.strip_prefix("#define ").unwrap_or(line).split_once([' ', '=']) else {
            continue;
        };
        let value = value.trim_start_matches([' ', '=']).split("/*").next().unwrap().trim_end_matches([' ', ',', ')']);
        let value = value.rsplit(')').next().unwrap();
        let number = value.strip_prefix("0x").map_or_else(|| value.parse(), |digits| i64::from_str_radix(digits, 16));
        let ours = name.starts_with("MPI_") && !["MPI_T_", "MPI_F_"].iter().any(|other| name.starts_with(other));
        if let (true, Ok(number)) = (ours, number) {
            all.insert(name, number);
        }
    }
    all
}

#[test]
fn constants_are_those_of_a_header() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../.venv/include/mpi_abi.h");
    let path = std::env::var_os("MPI_ABI_HEADER").map_or(root, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: there is no {}, which `pip install mpich` brings", path.display());
        return;
    };
    let mut theirs = header(&text);
    assert!(theirs.len() > 250, "the header was not understood: {} constants", theirs.len());
    // Written as -1 after a type, and not used in this project.
    theirs.remove("MPI_DISPLACEMENT_CURRENT");
    let ours = ours();
    let missing: Vec<_> = theirs.keys().filter(|name| !ours.contains_key(*name)).collect();
    assert!(missing.is_empty(), "of the header, these are not here: {missing:?}");
    for (name, value) in &ours {
        assert_eq!(theirs.get(name), Some(value), "{name}");
    }
}

/// A datatype with its size in its name has it in its handle, too: three bits for the logarithm.
#[test]
fn a_datatype_of_fixed_size_has_it_in_its_handle() {
    let fixed = |handle: usize| (0x240..0x260).contains(&handle) || (0x2c0..0x2f0).contains(&handle);
    let mut found = 0;
    for &Predefined { name, datatype, size } in MPI_Datatype::PREDEFINED.iter().filter(|it| fixed(it.datatype.0)) {
        assert_eq!(size, 1 << (datatype.0 >> 3 & 7), "{name}");
        found += 1;
    }
    assert_eq!(found, 30);
}

#[test]
fn a_predefined_datatype_is_found_by_its_handle() {
    for predefined in MPI_Datatype::PREDEFINED {
        assert_eq!(predefined.datatype.predefined(), Some(predefined));
    }
    assert_eq!(MPI_DATATYPE_NULL.predefined(), None);
    assert_eq!(MPI_Datatype(0x5555_0000).predefined(), None);
    assert!(MPI_COMM_WORLD.is_predefined() && !MPI_Comm(0x5555_0000).is_predefined());
}
