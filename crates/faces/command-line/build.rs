//! Names the version: `MAQUETTE_VERSION` is that of the package and, if it is built from a commit, that commit, which
//! is also `MAQUETTE_COMMIT`.

use std::path::Path;
use std::process::Command;

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    let (named, commit) = match commit() {
        Some(commit) => (format!("{version} ({commit})"), commit),
        None => (version.to_owned(), "no commit".to_owned()),
    };
    println!("cargo::rustc-env=MAQUETTE_VERSION={named}");
    println!("cargo::rustc-env=MAQUETTE_COMMIT={commit}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit that is checked out, if this is the repository of that commit and not a copy within another one.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().ok()?;
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?) != root {
        return None;
    }
    // Checking out or making a commit writes to these files.
    for written in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--path-format=absolute", "--git-path", written])?);
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
