//! The finished part of a sweep: which sweeps resume from it, and what of it outlives a crash.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use maquette_experiment::Experiment;
use maquette_experiment::journal::Journal;
use maquette_experiment::sweep::{Axis, Sweep};
use serde_json::json;

/// A folder of its own for a test, with a machine in `m.toml`, another in `n.toml`, and a matrix in `t.csv`.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("maquette-sweep-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, preset) in [("m.toml", "moc-2-1"), ("n.toml", "cm5-32")] {
        fs::write(folder.join(file), machines::describe(preset).unwrap().text().unwrap()).unwrap();
    }
    fs::write(folder.join("t.csv"), "0,64\n64,0\n").unwrap();
    folder
}

/// The sweep of the exchange in `t.csv` on both machines, over a field as well.
fn sweep(folder: &Path, field: &str) -> Result<Sweep, maquette_experiment::Error> {
    let fields = json!({
        "machine": {"name": "moc-2-1"},
        "job": [{"program": {"all-to-all": {"traffic": folder.join("t.csv"), "algorithm": "linear"}}}],
    });
    let machines = vec![json!(folder.join("m.toml")), json!(folder.join("n.toml"))];
    let axes = vec![
        Axis { name: "machine".to_owned(), values: machines },
        Axis { name: field.to_owned(), values: vec![json!(130), json!(260)] },
    ];
    Sweep::new(Experiment::from_fields(fields.as_object().unwrap().clone())?, axes)
}

/// Runs two of the points of the sweep, and leaves its journal behind; returns the journal's file.
fn interrupted(folder: &Path) -> PathBuf {
    let sweep = sweep(folder, "channels.buffers").unwrap();
    let (mut journal, rows) = Journal::open(&folder.join("o.csv"), &sweep).unwrap();
    assert!(rows.is_empty());
    for point in [2, 0] {
        journal.add(&sweep.run(point)).unwrap();
    }
    folder.join("o.csv.done.jsonl")
}

fn open(folder: &Path) -> Result<Vec<usize>, String> {
    let sweep = sweep(folder, "channels.buffers").unwrap();
    let opened = Journal::open(&folder.join("o.csv"), &sweep).map_err(|error| error.to_string())?;
    Ok(opened.1.iter().map(|row| row.point).collect())
}

#[test]
fn the_same_sweep_resumes_and_one_whose_files_have_changed_does_not() {
    let folder = folder("changed");
    let journal = interrupted(&folder);
    assert_eq!(open(&folder), Ok(vec![0, 2]));
    for file in ["m.toml", "n.toml", "t.csv"] {
        let path = folder.join(file);
        let content = fs::read_to_string(&path).unwrap();
        fs::write(&path, content.replacen("64", "65", 1) + "\n").unwrap();
        let error = open(&folder).unwrap_err();
        let changed =
            format!("{} has changed since these points were run; delete {}", path.display(), journal.display());
        assert!(error.contains(&changed), "{error}");
        fs::write(&path, content).unwrap();
    }
    assert_eq!(open(&folder), Ok(vec![0, 2]));
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1)).unwrap();
    assert!(open(&folder).unwrap_err().contains("maquette 0.0.1 (no commit) ran these points"));
    fs::write(&journal, text.replacen("no commit", "0123456789", 1)).unwrap();
    assert!(open(&folder).unwrap_err().contains("(0123456789) ran these points, and this is"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn only_a_line_that_was_cut_short_is_removed() {
    let folder = folder("cut");
    let path = interrupted(&folder);
    let whole = fs::read(&path).unwrap();
    // In the middle of a character.
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"point\":1,\"error\":\"\xc3").unwrap();
    assert_eq!(open(&folder), Ok(vec![0, 2]));
    assert_eq!(fs::read(&path).unwrap(), whole);
    // A complete line that is no row may hide others: nothing is removed.
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"point\":1,\n{\"point\":9}\n").unwrap();
    assert!(open(&folder).unwrap_err().contains(".done.jsonl:4:1: found no row of this sweep"));
    assert!(fs::read(&path).unwrap().len() > whole.len());
    fs::write(&path, &whole[..20]).unwrap();
    assert_eq!(open(&folder), Ok(Vec::new()));
    fs::write(&path, "of somebody else").unwrap();
    assert!(open(&folder).unwrap_err().contains("found the finished points of another sweep"));
    assert_eq!(fs::read(&path).unwrap(), b"of somebody else");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_sweeps_at_once_do_not_write_the_same_table() {
    let folder = folder("locked");
    let (out, sweep) = (folder.join("o.csv"), sweep(&folder, "channels.buffers").unwrap());
    let (mut journal, _) = Journal::open(&out, &sweep).unwrap();
    let in_use = format!("cannot write `{}`: another sweep writes it", out.display());
    assert_eq!(open(&folder), Err(in_use.clone()));
    journal.release();
    let (mut other, _) = Journal::open(&out, &sweep).unwrap();
    let row = sweep.run(0);
    assert_eq!(journal.add(&row).unwrap_err().to_string(), in_use);
    other.add(&row).unwrap();
    other.release();
    assert!(journal.add(&row).unwrap_err().to_string().contains("has written to its journal meanwhile"));
    other.remove().unwrap();
    assert!(!folder.join("o.csv.done.jsonl").exists());
    journal.remove().unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_field_that_no_machine_has_is_refused_before_anything_runs() {
    let folder = folder("field");
    let error = sweep(&folder, "channels.bufers").unwrap_err();
    assert!(error.to_string().contains("`channels.bufers=130` cannot be set"), "{error}");
    assert!(error.hint().unwrap().contains("`buffers`"), "{:?}", error.hint());
    fs::remove_file(folder.join("n.toml")).unwrap();
    assert!(sweep(&folder, "channels.buffers").unwrap_err().to_string().contains("n.toml"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_was_run_has_the_files() {
    let folder = folder("files");
    let sweep = sweep(&folder, "channels.buffers").unwrap();
    let provenance = sweep.provenance().added_to(json!({}));
    let files = provenance["experiment"]["files"].as_array().unwrap().clone();
    let names: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(file["path"].as_str().unwrap())).collect();
    assert_eq!(names, ["m.toml", "n.toml", "t.csv"].map(|name| folder.join(name)));
    fs::remove_dir_all(folder).unwrap();
}
