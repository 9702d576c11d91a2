//! What the guide says of limits and of the format of files is what the code does.

use std::fs;
use std::path::Path;

use maquette_store::journal::frame::VERSION;
use maquette_store::limits::table;

#[test]
fn the_guide_has_every_limit_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/store.md");
    let guide = fs::read_to_string(&path).unwrap();
    let head = table().lines().next().unwrap().to_owned() + "\n";
    let (before, rest) = guide.split_once(&head).expect("the table is there, with this head");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let current = format!("{before}{}\n{after}", table());
    if guide != current {
        fs::write(&path, current).unwrap();
        panic!("the limits in docs/guide/store.md were not those of this version; they are now: commit it");
    }
}

#[test]
fn the_guide_names_the_format_of_this_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/store.md");
    let guide = fs::read_to_string(path).unwrap().replace('\n', " ");
    let sentence = format!("the format of its files alone, which has a number of its own, {VERSION} in this version:");
    assert!(guide.contains(&sentence), "{sentence}");
}
