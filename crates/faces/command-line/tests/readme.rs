//! The commands in the README print what it shows.

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
