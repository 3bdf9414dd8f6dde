//! What is there to choose from?
//!
//! Each open set (privacy models, metrics, judges, algorithms) has a registry, a plain slice of entries. The
//! names in job files, on the command line and in `incog list`, the texts of `incog explain` and the tests that
//! run over everything come from it.

/// One thing a user can ask for by name.
#[derive(Debug, Clone, Copy)]
pub struct Entry<T: 'static> {
    /// The name in job files and flags.
    pub name: &'static str,
    /// One line for a list.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What `incog explain` prints: Markdown with the [`SECTIONS`] as headings, in that order.
    pub doc: &'static str,
    /// Has a second person compared definition, module docs and code?
    pub status: Status,
    /// The thing itself.
    pub item: T,
}

/// The headings of every entry's `doc`, each as `# What it promises` on a line of its own with text below.
pub const SECTIONS: [&str; 5] = ["What it promises", "When to use it", "Example", "Limits", "Reference"];

/// How far an entry can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// New: tested, not yet compared with its paper by a second person.
    Preview,
    /// Compared, since the version named.
    Vetted {
        /// The version of the comparison.
        since: &'static str,
    },
}

/// Names that entries had in earlier job files, each with the name it has now. Both are accepted.
const FORMER: &[(&str, &str)] = &[("kept", "snapshots")];

/// The name that an entry has now: job files may have a former one.
pub fn current(name: &str) -> &str {
    FORMER.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current)
}

/// The entry of that name, or of that former name.
pub fn find<'a, T>(entries: &'a [Entry<T>], name: &str) -> Option<&'a Entry<T>> {
    entries.iter().find(|entry| entry.name == current(name))
}

/// No name that is meant to be typed is longer; comparing two longer ones would take the product of their lengths.
const MAX_COMPARED: usize = 100;

/// The name nearest to a misspelt one, if any is near. Names of more than a hundred letters are near to none.
pub fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, misspelt: &str) -> Option<&'a str> {
    let is_short = |name: &str| name.chars().nth(MAX_COMPARED).is_none();
    if !is_short(misspelt) {
        return None;
    }
    let n_letters = misspelt.chars().count();
    let farthest = |name: &str| name.chars().count().max(4) / 3;
    names
        .into_iter()
        // A name that is much longer or shorter is not near: most need not be compared letter by letter.
        .filter(|name| is_short(name) && name.chars().count().abs_diff(n_letters) <= farthest(name))
        .map(|name| (distance(name, misspelt), name))
        .filter(|&(distance, name)| distance <= farthest(name))
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one into the other,
/// regardless of case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(table[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{algorithm, judge, metric, privacy, relational};

    /// The texts of all entries with their names.
    fn docs() -> Vec<(&'static str, &'static str)> {
        fn of<T>(entries: &'static [Entry<T>]) -> impl Iterator<Item = (&'static str, &'static str)> {
            entries.iter().map(|entry| (entry.name, entry.doc))
        }
        of(privacy::ALL)
            .chain(of(algorithm::ALL))
            .chain(of(algorithm::MARKINGS))
            .chain(of(relational::ALL))
            .chain(of(judge::ALL))
            .chain(of(metric::ALL))
            .collect()
    }

    #[test]
    fn every_entry_has_all_sections_in_order_and_none_is_empty() {
        for (name, doc) in docs() {
            let headings: Vec<&str> = doc.lines().filter_map(|line| line.strip_prefix("# ")).collect();
            assert_eq!(headings, SECTIONS, "{name}");
            assert!(doc.starts_with("# "), "{name}: text before the first section");
            for section in doc.split("# ").skip(1) {
                let (heading, text) = section.split_once('\n').unwrap();
                assert!(!text.trim().is_empty(), "{name}: {heading} is empty");
            }
        }
    }

    /// What CONTRIBUTING promises of privacy models and metrics: a file, a page, a line.
    #[test]
    fn every_file_with_an_entry_has_its_line_and_every_page_is_an_entrys() {
        let of_set = |names: Vec<(&'static str, &'static str)>, folder: &str| {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
            let list = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
            for file in std::fs::read_dir(&folder).unwrap() {
                let path = file.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                match path.extension().and_then(|ending| ending.to_str()) {
                    Some("rs") if stem != "mod" => {
                        for line in
                            text.lines().filter(|line| line.contains("const ") && line.contains(": Entry<"))
                        {
                            let name =
                                line.split("const ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
                            assert!(
                                list.contains(&format!("{stem}::{name},")),
                                "{stem}::{name} is in no list"
                            );
                        }
                    }
                    Some("md") => {
                        assert!(names.iter().any(|(_, doc)| *doc == text), "{stem}.md is no entry's page");
                        // So that it is found beside the code.
                        assert!(
                            names.iter().any(|(name, doc)| name.replace('-', "_") == stem && *doc == text),
                            "{stem}"
                        );
                    }
                    _ => {}
                }
            }
        };
        of_set(privacy::ALL.iter().map(|entry| (entry.name, entry.doc)).collect(), "privacy");
        of_set(metric::ALL.iter().map(|entry| (entry.name, entry.doc)).collect(), "metric");
    }

    #[test]
    fn a_name_stands_for_one_thing_and_each_text_is_its_own() {
        let docs = docs();
        for (at, (name, doc)) in docs.iter().enumerate() {
            assert!(docs[..at].iter().all(|(earlier, text)| earlier != name && text != doc), "{name}");
        }
    }

    #[test]
    fn a_former_name_finds_the_entry_and_is_no_entrys_name() {
        for (former, name) in FORMER {
            assert!(docs().iter().any(|(entry, _)| entry == name), "{name}");
            assert!(docs().iter().all(|(entry, _)| entry != former), "{former}");
        }
        assert_eq!(find(judge::ALL, "kept").unwrap().item, judge::JudgeKind::Snapshots);
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour_and_a_strange_one_none() {
        let names = ["exhaustive", "bottom-up", "samarati", "incognito"];
        assert_eq!(nearest(names, "incognitto"), Some("incognito"));
        assert_eq!(nearest(names, "Botom-up"), Some("bottom-up"));
        assert_eq!(nearest(names, "mondrian"), None);
        assert_eq!(nearest(["zip", "age"], "zpi"), Some("zip"));
        assert_eq!(nearest(["zip", "age"], "zap"), Some("zip"));
        assert_eq!(nearest(["zip", "age"], "sex"), None);
        assert_eq!(nearest(["zip", "age"], "zipp"), Some("zip"));
    }
}
