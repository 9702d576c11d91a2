//! Whole command lines: what they print, on which stream, with which exit status.
//!
//! Each file of tests/command_line is a text with commands and their expected output. To record their present output,
//! run this with `TRYCMD=overwrite` in the environment, and read the difference.

use std::time::Duration;

/// No command may take longer.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn command_lines() {
    let cases = trycmd::TestCases::new();
    // Every commit is another build.
    cases.insert_var("[BUILD]", env!("MAQUETTE_COMMIT")).expect("it is a name in capitals");
    cases.case("tests/command_line/*.md").timeout(LIMIT);
}
