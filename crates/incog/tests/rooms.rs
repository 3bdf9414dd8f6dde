//! Rooms use only those above them: reads the `use` lines and paths of two crates, and fails on a way back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The rooms of a crate in the order in which its `lib.rs` declares them.
fn rooms(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let name = |line: &str| {
        let declared = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "))?;
        declared.strip_suffix(';').map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A file without its comments and its tests: those may look anywhere.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let text = text.split("#[cfg(all(test, unix))]\nmod tests").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names behind `crate::` in a text, whether one by one or in braces.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` and the like are no paths of this crate.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = &list[..list.find("};").unwrap_or(list.len())];
                names.extend(list.split(',').map(|item| word(item.trim())).filter(|name| !name.is_empty()));
            }
            None => _ = names.insert(word(rest)),
        }
    }
    names
}

/// Which rooms each room uses.
fn uses(source: &Path, rooms: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut all = Vec::new();
    files(source, &mut all);
    for path in all {
        let inside = path.strip_prefix(source).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let room = first.trim_end_matches(".rs").to_owned();
        if room == "lib" {
            continue;
        }
        let mut others = named(&code(&path));
        others.retain(|name| rooms.contains(name) && *name != room);
        uses.entry(room).or_default().extend(others);
    }
    uses
}

#[track_caller]
fn check(source: &Path) {
    let rooms = rooms(source);
    let uses = uses(source, &rooms);
    assert!(rooms.len() > 8 && uses.len() == rooms.len(), "{rooms:?} {:?}", uses.keys());
    let place = |room: &String| rooms.iter().position(|other| other == room).unwrap();
    for (room, used) in &uses {
        for other in used {
            assert!(place(other) < place(room), "`{room}` uses `{other}`, which is declared after it");
        }
    }
    // A test that sees nothing would pass too: the last room uses others.
    assert!(!uses[rooms.last().unwrap()].is_empty());
}

#[test]
fn a_room_of_the_library_uses_only_those_above_it() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}

#[test]
fn what_only_one_system_has_is_in_one_room() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let particular = ["cfg(unix)", "cfg(not(unix))", "cfg(windows)", "cfg(target_os", "nix::", "std::os::"];
    let is_particular = |path: &Path| particular.iter().any(|sign| code(path).contains(sign));
    for path in all.iter().filter(|path| is_particular(path)) {
        assert!(path.starts_with(source.join("system")), "{} knows which system it is on", path.display());
    }
    assert!(is_particular(&source.join("system/unix.rs")));
}

#[test]
fn a_module_of_the_engine_uses_only_those_above_it() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../incog-core/src"));
}

/// The functions of a text that have more lines than this, with where they begin. They are laid out by rustfmt: a function ends at
/// a brace that stands as far in as it begins.
fn long_functions(text: &str, most: usize) -> Vec<(usize, usize)> {
    let begins = |line: &str| {
        let words = line.trim_start();
        let words = words.strip_prefix("pub").map_or(words, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
            None => rest.trim_start(),
        });
        words.starts_with("fn ") || words.starts_with("const fn ")
    };
    let mut long = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        if begins(line) {
            let margin = &line[..line.len() - line.trim_start().len()];
            open = Some((at, format!("{margin}}}")));
        } else if let Some((start, _)) = open.take_if(|(_, end)| line == end)
            && at - start + 1 > most
        {
            long.push((start + 1, at - start + 1));
        }
    }
    long
}

#[test]
fn no_function_of_the_library_has_80_lines_and_no_file_more_than_600() {
    for folder in ["src", "../incog-cli/src"] {
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
        assert!(all.len() > 10);
        for path in all {
            let text = std::fs::read_to_string(&path).unwrap();
            let n_lines = text.lines().count();
            assert!(n_lines <= 600, "{} has {n_lines} lines", path.display());
            let long = long_functions(&text, 79);
            assert!(long.is_empty(), "{}: long functions (line, length): {long:?}", path.display());
        }
    }
    let text = "pub(crate) fn long(\n    a: u8,\n) {\n    a;\n}\nfn short() {\n}\n";
    assert_eq!(long_functions(text, 4), [(1, 5)]);
}

#[test]
fn no_source_file_of_any_crate_has_more_than_600_lines() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut n_files = 0;
    for entry in std::fs::read_dir(crates).unwrap() {
        let mut all = Vec::new();
        files(&entry.unwrap().path().join("src"), &mut all);
        n_files += all.len();
        for path in all {
            let n_lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(n_lines <= 600, "{} has {n_lines} lines", path.display());
        }
    }
    assert!(n_files > 300, "{n_files} files");
}

#[test]
fn names_are_found_in_every_kind_of_path() {
    let code = "use crate::plan::{self, x};\nuse crate::{file, job::Job};\nlet x = crate::find::y();\n$crate::nothing";
    assert_eq!(named(code).into_iter().collect::<Vec<_>>(), ["file", "find", "job", "plan"]);
}
