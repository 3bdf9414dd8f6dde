//! Texts name their numbers.
//!
//! A doc line that leaves its number to the item below it has no subject of its own: the reader has to read on and come back. The
//! phrase that such lines have in common is looked for in all sources, examples and documents.

use std::fs;
use std::path::{Path, PathBuf};

/// The first word of what no text says.
const FIRST: &str = "so";

/// The second word, apart from the first because this file is read too.
const SECOND: &str = "many";

/// Folders whose files are read.
const FOLDERS: [&str; 4] = ["crates", "bench", "examples", "docs"];

/// Endings of files that people read.
const ENDINGS: [&str; 4] = ["rs", "md", "py", "toml"];

fn texts(folder: &Path, to: &mut Vec<PathBuf>) {
    // The documents need not be there.
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, to);
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|&known| ending == known)) {
            to.push(path);
        }
    }
}

/// The lines of a text in which the phrase begins, also where it goes on in the next line behind `//!`, `///`, `//` or `#`.
fn lines_with_phrase(text: &str) -> Vec<usize> {
    let words = text.lines().zip(1..).flat_map(|(line, number)| {
        let line = line.trim_start().trim_start_matches(['/', '!', '#']);
        line.split_whitespace().map(move |word| {
            (word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase(), number)
        })
    });
    let words: Vec<(String, usize)> = words.collect();
    words.windows(2).filter(|two| two[0].0 == FIRST && two[1].0 == SECOND).map(|two| two[0].1).collect()
}

#[test]
fn every_text_names_its_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| texts(&root.join(folder), &mut paths));
    assert!(paths.len() > 100, "sources are read");
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let lines = lines_with_phrase(&text);
        assert!(lines.is_empty(), "{}: `{}` in lines {lines:?}", path.display(), [FIRST, SECOND].join(" "));
    }
}

#[test]
fn the_phrase_is_found_across_lines_and_in_capitals() {
    assert_eq!(lines_with_phrase(&format!("a\n/// {FIRST}\n/// {SECOND}, b")), [2]);
    assert_eq!(lines_with_phrase(&format!("# {} {SECOND}", FIRST.to_uppercase())), [1]);
    assert_eq!(lines_with_phrase(&format!("{FIRST} few, {SECOND}")), []);
}
