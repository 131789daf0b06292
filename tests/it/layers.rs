//! Modules use only the groups above them.

#![allow(clippy::unwrap_used, reason = "the sources are where cargo says they are")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The groups in the order that data flows. What is not named here stands beside them and may use all.
const GROUPS: [&[&str]; 12] = [
    &["error", "id", "json", "wildcard"],
    &["protocol", "tokens", "evidence"],
    &["client"],
    &["catalog", "trust"],
    &["index"],
    &["retrieval", "selection", "resources", "templates", "prompts", "picker"],
    &["render"],
    &["prefix", "call"],
    &["cost"],
    &["discovery"],
    &["session"],
    &["host"],
];

/// What the crate's root gives again, by the module that it comes from.
const ROOT: [(&str, &str); 6] = [
    ("Error", "error"),
    ("Result", "error"),
    ("Host", "host"),
    ("Context", "session"),
    ("Session", "session"),
    ("TokenBudget", "tokens"),
];

const BESIDE: [&str; 4] = ["demo", "eval", "bin", "lib"];

fn group(module: &str) -> Option<usize> {
    GROUPS.iter().position(|group| group.contains(&module))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Without comments, so that documentation may point wherever it likes.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The first segments of all paths that start at the crate's root, those in braces included.
fn used(code: &str) -> Vec<String> {
    let mut used = Vec::new();
    for (at, start) in code.match_indices("crate::") {
        // Part of a longer word, such as `$crate::` or `other_crate::`, or the crate's own macros.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + start.len()..];
        let Some(inside) = rest.strip_prefix('{') else {
            used.push(rest);
            continue;
        };
        let mut depth = 1;
        let mut start = 0;
        for (i, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                used.push(&inside[start..i]);
                start = i + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    let word = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    used.into_iter().map(word).filter(|word| !word.is_empty()).collect()
}

#[test]
fn no_module_uses_a_group_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    assert!(files.len() > 50, "only {} sources", files.len());
    let mut faults = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        if BESIDE.contains(&module) {
            continue;
        }
        let Some(own) = group(module) else {
            faults.push(format!("{}: module `{module}` stands in no group", path.display()));
            continue;
        };
        for word in used(&code(&fs::read_to_string(&file).unwrap())) {
            let from = ROOT.iter().find(|(name, _)| *name == word).map_or(word.as_str(), |(_, module)| module);
            match group(from) {
                Some(other) if other <= own => {}
                Some(_) => faults.push(format!("{}: `{module}` uses `{from}`, which is below it", path.display())),
                None => faults.push(format!("{}: `{module}` uses `{from}`, which stands in no group", path.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn uses_are_found() {
    let text = "use crate::{\n    Error, client::{Change, Client},\n    id::ServerId,\n};\n// crate::host::Host\nfn a() -> crate::json::Digest";
    assert_eq!(used(&code(text)), ["Error", "client", "id", "json"]);
}
