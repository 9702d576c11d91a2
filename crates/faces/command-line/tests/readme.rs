//! The commands in the README print what it shows, and the folders that it installs from exist.

use std::path::Path;
use std::time::Duration;

/// No command may take longer.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn readme() {
    // A file of its own, because all tests of a file share one current folder.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    std::env::set_current_dir(root).expect("the folder of the workspace can be entered");
    let cases = trycmd::TestCases::new();
    // Every commit is another build.
    cases.insert_var("[BUILD]", env!("MAQUETTE_COMMIT")).expect("it is a name in capitals");
    cases.case("README.md").timeout(LIMIT);
}

#[test]
fn what_is_installed_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("it can be read");
    let paths: Vec<&str> = readme.split("--path ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    assert!(!paths.is_empty());
    for path in paths {
        assert!(root.join(path).join("Cargo.toml").is_file(), "{path}");
    }
}
