//! The page of the library: few items, each with an example that is run.

use std::path::{Path, PathBuf};

/// More items than this are no page that anybody reads.
const MOST: usize = 62;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every item that the page has, and whether the line that puts it there has an example.
fn items(page: &str) -> Vec<(String, bool)> {
    let mut items = Vec::new();
    let mut has_example = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("///") {
            has_example |= line.trim_end().ends_with("```");
            continue;
        }
        if let Some(path) = line.strip_prefix("pub use ") {
            let mut path = path.to_owned();
            while !path.ends_with(';') {
                path += lines.next().unwrap().trim();
            }
            let names = path.rsplit("::").next().unwrap().trim_matches(['{', '}', ';']);
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            items.extend(names.map(|name| (name.trim_end_matches('}').to_owned(), has_example)));
        } else if let Some(name) = line.strip_prefix("pub mod ") {
            items.push((name.trim_end_matches(" {").to_owned(), has_example));
        }
        has_example = false;
    }
    items
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

/// The lines of docs and attributes above the definition of a type, if it is in this text.
fn above<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_defined = |line: &&str| {
        let kinds = ["pub struct ", "pub enum ", "pub type "];
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind));
        rest.is_some_and(|rest| {
            rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        })
    };
    let at = lines.iter().position(is_defined)?;
    let above = lines[..at].iter().rev().take_while(|line| !line.is_empty() && !line.starts_with('}'));
    Some(above.copied().collect())
}

/// Is there a definition of this name with an example? A name may be defined in several rooms, of which one is on the page.
fn has_example(texts: &[String], name: &str) -> bool {
    let definitions = texts.iter().filter_map(|text| above(text, name));
    definitions.into_iter().any(|lines| lines.iter().any(|line| line.starts_with("/// ```")))
}

#[test]
fn the_page_is_short_and_every_item_has_an_example() {
    let page = std::fs::read_to_string(source().join("lib.rs")).unwrap();
    let mut all = Vec::new();
    files(&source(), &mut all);
    let texts: Vec<String> = all.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let items = items(&page);
    assert!((50..=MOST).contains(&items.len()), "{} items on the page", items.len());
    let without: Vec<&String> = items
        .iter()
        .filter(|(name, has_own)| !has_own && !has_example(&texts, name))
        .map(|(name, _)| name)
        .collect();
    assert!(without.is_empty(), "without an example: {without:?}");
}

#[test]
fn items_and_examples_are_found() {
    let page = "pub use a::b::{One, Two};\n/// Text.\n///\n/// ```\n/// ```\npub use c::Three;\npub use d::{\n    Four,\n    Five,\n};\n";
    let names = |has: bool| {
        let found = items(page).into_iter().filter(|(_, has_own)| *has_own == has);
        found.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(false), names(true)),
        (["One", "Two", "Four", "Five"].map(str::to_owned).to_vec(), vec!["Three".to_owned()])
    );
    let text = "/// ```\n/// ```\n#[derive(Debug)]\npub struct One {\n}\n\n/// None.\npub struct OneMore;\n"
        .to_owned();
    let texts = [text];
    assert!(has_example(&texts, "One") && !has_example(&texts, "OneMore"));
}
