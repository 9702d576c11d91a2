//! Rules of this project that no lint checks: how long functions and files may be, which way dependencies between
//! crates run, and that no work is postponed by a mark in the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The most lines of a function.
const FUNCTION_LINES: usize = 70;
/// The most lines of a file.
const FILE_LINES: usize = 800;

/// The crates of the workspace on which each may depend; and, second, those that its tests may use besides.
const ARROWS: [(&str, &[&str], &[&str]); 28] = [
    ("quantities", &[], &[]),
    ("endpoint", &["quantities"], &[]),
    ("machines", &["quantities"], &[]),
    ("messaging", &["endpoint", "quantities"], &["collectives", "linear-hash", "programs"]),
    ("virtual-worlds", &["endpoint", "machines", "messaging", "quantities"], &["collectives", "programs", "replay"]),
    ("collectives", &["endpoint", "quantities"], &["machines", "replay", "virtual-worlds"]),
    ("linear-hash", &["endpoint", "quantities"], &["machines", "virtual-worlds"]),
    ("replay", &["collectives", "endpoint", "quantities", "trace-format"], &["machines", "virtual-worlds"]),
    ("programs", &["collectives", "endpoint", "quantities"], &["machines", "virtual-worlds"]),
    ("mpi-abi", &[], &[]),
    ("mpi", &["mpi-abi"], &[]),
    ("mpi-preload", &[], &[]),
    ("trace-format", &[], &[]),
    ("plan-format", &["collectives", "quantities"], &[]),
    ("mpi-trace", &["mpi", "mpi-abi", "mpi-preload", "trace-format"], &[]),
    (
        "mpi-collectives",
        &["collectives", "endpoint", "mpi", "mpi-abi", "mpi-preload", "plan-format", "quantities", "real-worlds"],
        &[],
    ),
    (
        "real-worlds",
        &["endpoint", "messaging", "mpi", "quantities"],
        &["collectives", "linear-hash", "machines", "programs", "virtual-worlds"],
    ),
    ("launch", &["collectives", "endpoint", "messaging", "quantities", "real-worlds"], &["replay"]),
    ("cast", &["endpoint", "messaging", "programs", "quantities", "real-worlds"], &[]),
    ("store", &["linear-hash", "quantities"], &[]),
    ("formats", &["collectives", "machines", "quantities", "virtual-worlds"], &[]),
    ("report", &["machines", "quantities", "virtual-worlds"], &[]),
    (
        "experiment",
        &[
            "collectives",
            "endpoint",
            "formats",
            "launch",
            "linear-hash",
            "machines",
            "programs",
            "quantities",
            "replay",
            "report",
            "virtual-worlds",
        ],
        &[],
    ),
    (
        "tuning",
        &[
            "collectives",
            "endpoint",
            "experiment",
            "formats",
            "machines",
            "plan-format",
            "programs",
            "quantities",
            "virtual-worlds",
        ],
        &[],
    ),
    (
        "studies",
        &[
            "collectives",
            "endpoint",
            "experiment",
            "linear-hash",
            "machines",
            "messaging",
            "programs",
            "quantities",
            "report",
            "virtual-worlds",
        ],
        &[],
    ),
    (
        "command-line",
        &[
            "cast",
            "collectives",
            "endpoint",
            "experiment",
            "formats",
            "launch",
            "linear-hash",
            "machines",
            "messaging",
            "plan-format",
            "programs",
            "quantities",
            "real-worlds",
            "replay",
            "report",
            "store",
            "studies",
            "trace-format",
            "tuning",
            "virtual-worlds",
        ],
        &[],
    ),
    (
        "python-bindings",
        &[
            "collectives",
            "command-line",
            "endpoint",
            "experiment",
            "formats",
            "launch",
            "machines",
            "quantities",
            "real-worlds",
            "store",
            "studies",
            "tuning",
            "virtual-worlds",
        ],
        &[],
    ),
    (
        "maquette",
        &[
            "collectives",
            "endpoint",
            "linear-hash",
            "machines",
            "programs",
            "quantities",
            "real-worlds",
            "virtual-worlds",
        ],
        &[],
    ),
];

/// A function that was found in a file.
struct Function {
    name: String,
    line: usize,
    lines: usize,
}

#[test]
fn functions_and_files_are_short() {
    let mut too_long = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display();
        let lines = text.lines().count();
        if lines > FILE_LINES {
            too_long.push(format!("{shown}: {lines} lines, allowed are {FILE_LINES}"));
        }
        for function in functions(&path, &text).into_iter().filter(|function| function.lines > FUNCTION_LINES) {
            let Function { name, line, lines } = function;
            too_long.push(format!("{shown}:{line}: `{name}` has {lines} lines, allowed are {FUNCTION_LINES}"));
        }
    }
    assert!(too_long.is_empty(), "\n{}", too_long.join("\n"));
}

#[test]
fn nothing_is_marked_to_be_done_later() {
    // Put together at run time, so that this file does not contain them.
    let marks = ["TO-DO", "FIX-ME", "X-XX", "to-do!", "unimple-mented!"].map(|mark| mark.replace('-', ""));
    let mut found = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = marks.iter().find(|mark| line.contains(mark.as_str())) {
                found.push(format!("{}:{}: {mark}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn arrows_between_crates_run_one_way() {
    let allowed: BTreeMap<&str, (&[&str], &[&str])> =
        ARROWS.iter().map(|&(name, uses, tests)| (name, (uses, tests))).collect();
    for folder in crates() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let (uses, tests) = allowed.get(name).unwrap_or_else(|| panic!("{name}: it has no place among the arrows"));
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        for (section, more) in [("dependencies", &[][..]), ("dev-dependencies", tests)] {
            let listed =
                manifest.get(section).and_then(toml::Value::as_table).into_iter().flat_map(|table| table.keys());
            for used in listed.filter(|used| allowed.contains_key(used.as_str())) {
                let fine = uses.contains(&used.as_str()) || more.contains(&used.as_str());
                assert!(fine, "{name}: its {section} have {used}, which may not lie below it");
            }
        }
    }
}

/// The folders of all crates: a room by itself, or one of a floor of rooms.
fn crates() -> Vec<PathBuf> {
    let folders = |path: PathBuf| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let has_manifest = |folder: &PathBuf| folder.join("Cargo.toml").exists();
    let rooms = folders(root().join("crates")).into_iter();
    let rooms = rooms.flat_map(|room| if has_manifest(&room) { vec![room] } else { folders(room) });
    let all: Vec<PathBuf> = rooms.filter(has_manifest).collect();
    assert_eq!(all.len(), ARROWS.len(), "a crate for each row of the arrows: {all:?}");
    all
}

/// Crates that call or are called by code outside the compiler's knowledge.
const UNSAFE: [&str; 4] = ["mpi", "mpi-collectives", "mpi-preload", "mpi-trace"];

/// What runs, plans, awaits or describes collectives, and what describes machines or simulates them, goes through
/// lists, so that one more is a file or a folder and a line.
#[test]
fn no_row_of_a_list_is_named_outside_it() {
    let collectives = ["crates/collectives/"];
    let of_collectives = ["Collective::", "AnyAlgorithm::"];
    let list = "crates/collectives/src/lib.rs";
    let mut named = named_outside(list, "            $($given)* ;\n", &collectives, &of_collectives);
    let rules = ["crates/models/machines/src/routing/", "crates/models/machines/src/routing.rs"];
    named.extend(named_outside(
        "crates/models/machines/src/routing.rs",
        "\nrules! {\n",
        &rules,
        &["Rule::", "Routing::"],
    ));
    let topologies = ["crates/models/machines/src/topology/", "crates/models/machines/src/topology.rs"];
    named.extend(named_outside(
        "crates/models/machines/src/topology.rs",
        "\ntopologies! {\n",
        &topologies,
        &["topology::", "fields::"],
    ));
    assert!(named.is_empty(), "a verb goes through the list and names no row: {named:#?}");
}

/// Where a row of the list that begins in a file with some text is named, after one of `prefixes`, outside its own
/// folders.
fn named_outside(list: &str, begin: &str, own: &[&str], prefixes: &[&str]) -> Vec<String> {
    let list = fs::read_to_string(root().join(list)).unwrap();
    let (_, rows) = list.split_once(begin).unwrap();
    let row = |line: &'_ str| Some(line.trim().strip_suffix(',')?.rsplit_once("::")?.1.to_owned());
    let rows: Vec<String> = rows.split_once('}').unwrap().0.lines().filter_map(row).collect();
    assert!(rows.len() > 5, "{begin}: {rows:?}");
    let mut named = Vec::new();
    for path in sources().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        if own.iter().any(|folder| path.starts_with(root().join(folder)))
            || path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // Tests at the end of a file may name what they test.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
        let paths = rows.iter().flat_map(|row| prefixes.iter().map(move |of| format!("{of}{row}")));
        named.extend(paths.filter(|name| mentions(&text, name)).map(|name| format!("{}: {name}", path.display())));
    }
    named
}

/// Whether a path occurs by itself, not at the end of another name or at the beginning of one.
fn mentions(text: &str, path: &str) -> bool {
    let in_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + path.len()..].chars().next());
        !before.is_some_and(in_name) && !after.is_some_and(in_name)
    })
}

#[test]
fn what_is_unsafe_stays_where_it_is_allowed() {
    let allowed: Vec<PathBuf> = UNSAFE.iter().map(|name| root().join("crates/mpi").join(name)).collect();
    // Put together at run time, so that this file does not contain it.
    let allows = ["allow(", "unsafe_code"].concat();
    for path in sources().into_iter().filter(|path| !allowed.iter().any(|folder| path.starts_with(folder))) {
        assert!(!fs::read_to_string(&path).unwrap().contains(&allows), "{}: {allows}", path.display());
    }
}

/// A test of the test: one line more than allowed is noticed, whatever the language.
#[test]
fn a_function_of_71_lines_is_too_long() {
    let body = |line: &str| format!("{line}\n").repeat(FUNCTION_LINES - 1);
    let rust = format!(
        "impl A {{\n    /// Text.\n    fn long() {{\n{}    }}\n    fn short() {{}}\n}}\n",
        body("        let _ = r#\"\n}\"#;")
    );
    let found = functions(Path::new("a.rs"), &rust);
    let lines: Vec<(&str, usize, usize)> = found.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
    assert_eq!(lines, [("long", 3, 2 * FUNCTION_LINES), ("short", 143, 1)]);

    let rust = format!("fn long() {{\n{}}}\n", body("    f(|| 1);"));
    assert_eq!(functions(Path::new("a.rs"), &rust)[0].lines, FUNCTION_LINES + 1);
    let python =
        format!("class A:\n    def long(\n        a: int,\n    ) -> None:\n{}\n    x = 1\n", body("        a()\n"));
    assert_eq!(functions(Path::new("a.py"), &python)[0].lines, 2 * (FUNCTION_LINES - 1) + 2);
    let script = format!("export function long(): void {{\n{}}}\nlet x = 1;\n", body("  a();"));
    assert_eq!(functions(Path::new("a.ts"), &script)[0].lines, FUNCTION_LINES + 1);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}

/// Every source file in the tree.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let built = name.starts_with('.') || name.starts_with("target") || name == "node_modules";
                if !built {
                    folders.push(path);
                }
            } else if ["rs", "py", "pyi", "ts", "js"]
                .iter()
                .any(|ending| path.extension().is_some_and(|it| it == *ending))
            {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 20, "the tree was not found");
    found.sort();
    found
}

fn functions(path: &Path, text: &str) -> Vec<Function> {
    if path.extension().is_some_and(|ending| ending == "rs") {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut found = Found(Vec::new());
        found.visit_file(&file);
        found.0
    } else {
        indented_functions(text)
    }
}

/// Functions of Rust, from `fn` to the closing bracket.
struct Found(Vec<Function>);

impl Found {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let (first, last) = (signature.fn_token.span.start().line, body.brace_token.span.close().end().line);
        self.0.push(Function { name: signature.ident.to_string(), line: first, lines: last - first + 1 });
    }
}

impl<'a> Visit<'a> for Found {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }
    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Functions of Python, TypeScript and JavaScript in their usual form: everything indented below the first line, and
/// the line that closes its brackets.
fn indented_functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let words = line.trim_start().trim_start_matches("export ").trim_start_matches("async ");
        let python = words.starts_with("def ");
        if !python && !words.starts_with("function ") && !words.ends_with("=> {") {
            continue;
        }
        let inside = |line: &&str| {
            let continues = python && line.trim_start().starts_with(')');
            line.trim().is_empty() || indent(line) > indent(lines[first]) || continues
        };
        let mut last = first + lines[first + 1..].iter().take_while(|line| inside(line)).count();
        while lines[last].trim().is_empty() {
            last -= 1;
        }
        // The closing bracket of the other two stands on a line of its own.
        last += usize::from(!python && last + 1 < lines.len());
        let name = words.split(['(', ' ']).nth(1).unwrap_or(words);
        found.push(Function { name: name.to_string(), line: first + 1, lines: last - first + 1 });
    }
    found
}
