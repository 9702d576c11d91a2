//! The commands that the README shows answer as it says.

#[test]
fn readme() {
    // A file of its own, because all tests of a file share one current folder.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the folder of the workspace can be entered");
    trycmd::TestCases::new().case("README.md");
}
