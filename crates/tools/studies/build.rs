//! Identifies the simulator of the studies: `MAQUETTE_SIMULATED_BY` is a hash of the sources on which an answer
//! depends, and `MAQUETTE_JUDGED_BY` one of these and of the claims, on which a verdict depends.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The places of these sources, from the root of the workspace.
const SOURCES: [&str; 13] = [
    "Cargo.lock",
    "crates/foundation/endpoint/src",
    "crates/tools/experiment/src",
    "crates/models/machines/src",
    "crates/models/messaging/src",
    "crates/collectives/src",
    "crates/linear-hash/src",
    "crates/programs/src",
    "crates/foundation/quantities/src",
    "crates/tools/studies/src",
    "crates/models/virtual-worlds/src",
    "experiments/lh/words-nl.txt.gz",
    "machines",
];

/// The claims.
const CLAIMS: [&str; 5] = [
    "experiments/bcast/claims.toml",
    "experiments/cm5/claims.toml",
    "experiments/lh/claims.toml",
    "experiments/moc/claims.toml",
    "experiments/postal/claims.toml",
];

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by its environment where it is")]
fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../../..");
    let mut hasher = blake3::Hasher::new();
    add(&mut hasher, &root, &SOURCES)?;
    println!("cargo::rustc-env=MAQUETTE_SIMULATED_BY={}", hasher.finalize().to_hex());
    add(&mut hasher, &root, &CLAIMS)?;
    println!("cargo::rustc-env=MAQUETTE_JUDGED_BY={}", hasher.finalize().to_hex());
    Ok(())
}

/// Adds the names and contents of all files at or below some places to a hash.
fn add(hasher: &mut blake3::Hasher, root: &Path, places: &[&str]) -> io::Result<()> {
    for place in places {
        println!("cargo::rerun-if-changed={}", root.join(place).display());
        for file in files(&root.join(place))? {
            let content = fs::read(&file)?;
            hasher.update(file.strip_prefix(root).unwrap_or(&file).as_os_str().as_encoded_bytes());
            hasher.update(&(content.len() as u64).to_le_bytes());
            hasher.update(&content);
        }
    }
    Ok(())
}

/// All files at or below `path`, in order of their names; none if there is no such path, as in a package of part of the
/// workspace.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(if path.is_file() { vec![path.to_path_buf()] } else { Vec::new() });
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    let below = entries.iter().map(|entry| files(entry)).collect::<io::Result<Vec<_>>>()?;
    Ok(below.into_iter().flatten().collect())
}
