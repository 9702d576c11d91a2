//! What is installed beside the command goes with it: the units of systemd and the configuration of the store.

#[allow(dead_code)] // other tests also signal processes and wait for what they do
mod processes;

use std::fs;
use std::path::{Path, PathBuf};

use processes::{maquette, output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging")
}

/// What the command prints.
fn printed(words: &[&str]) -> Result<String, String> {
    let output = output(&mut maquette(words));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn the_packaged_configuration_has_every_option_of_this_version() {
    let path = folder().join("store.toml");
    let current = printed(&["store", "config", "--data", "/var/lib/maquette-store"]).unwrap();
    if fs::read_to_string(&path).unwrap_or_default() != current {
        fs::write(&path, current).unwrap();
        panic!("packaging/store.toml was not that of this version; it is now: commit it");
    }
}

/// The words after `maquette` in the line that starts a unit.
fn words(unit: &str) -> Vec<String> {
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/maquette ")).expect("it is started");
    line.split(' ').map(str::to_owned).collect()
}

/// The options in a file of defaults that is commented out.
fn defaults(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("#OPTIONS=")).expect("there is an example");
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn units_name_only_options_that_the_command_has() {
    let systemd = folder().join("systemd");
    let mut units = 0;
    for path in fs::read_dir(&systemd).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "service") {
            continue;
        }
        let mut line = words(&fs::read_to_string(&path).unwrap());
        if line.last().is_some_and(|word| word == "$OPTIONS") {
            line.pop();
            line.extend(defaults(&path.with_extension("default")));
        }
        // The help is printed where all words before it are in order.
        line.push("--help".to_owned());
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let help = printed(&line);
        assert!(help.as_ref().is_ok_and(|help| help.contains("Usage:")), "{}: {help:?}", path.display());
        units += 1;
    }
    assert_eq!(units, 2);
}

#[test]
fn an_option_that_the_command_does_not_have_is_found() {
    assert!(printed(&["store", "serve", "--bogus", "--help"]).is_err());
    assert!(printed(&["cast", "receive", "--hops", "1000", "--help"]).is_err());
}
