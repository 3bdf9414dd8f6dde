//! On which line does a key stand?

use std::collections::HashMap;
use std::sync::Arc;

/// The line of every key of a job file.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// By the path of the key ([`joined`]). `None` where something else than the job file has said it. Shared: jobs are copied more
    /// often than they are changed, and there may be a hundred thousand keys.
    lines: Arc<HashMap<String, Option<usize>>>,
}

/// A path as one text. Keys are separated by a character that no name of a column has a reason to contain; one that does may get
/// the line of another key.
fn joined<'a>(path: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for key in path {
        text.push_str(key);
        text.push(END);
    }
    text
}

/// Ends each key of a path.
const END: char = '\0';

impl Lines {
    /// The line of a key, or of the nearest table around it.
    pub fn of(&self, path: &[&str]) -> Option<usize> {
        (1..=path.len())
            .rev()
            .find_map(|length| self.lines.get(&joined(path[..length].iter().copied())))
            .copied()
            .flatten()
    }

    /// A key's value no longer comes from the job file (but from a flag, say): it has no line any more.
    pub fn forget(&mut self, path: &[&str]) {
        Arc::make_mut(&mut self.lines).insert(joined(path.iter().copied()), None);
    }

    /// The same for a key and everything below it.
    pub fn forget_below(&mut self, path: &[&str]) {
        let above = joined(path.iter().copied());
        Arc::make_mut(&mut self.lines).retain(|key, _| *key == above || !key.starts_with(&above));
        self.forget(path);
    }

    /// The lines of everything below `from`, as if it stood below `to`.
    pub(super) fn below(&self, from: &[&str], to: &[&str]) -> Lines {
        let mut lines = Lines::default();
        lines.copy_from(self, from, to);
        lines
    }

    /// The lines of others at and below `from` become those at and below `to`.
    pub(super) fn copy_from(&mut self, others: &Lines, from: &[&str], to: &[&str]) {
        let (from, to) = (joined(from.iter().copied()), joined(to.iter().copied()));
        let lines = Arc::make_mut(&mut self.lines);
        for (path, &line) in &*others.lines {
            if let Some(below) = path.strip_prefix(&from) {
                lines.insert(to.clone() + below, line);
            }
        }
    }

    /// The lines of the columns of one table of a database, as that table's own job has them.
    pub(crate) fn take_below(&mut self, table_job: &Lines, table: &str) {
        self.copy_from(table_job, &["columns"], &["tables", table, "columns"]);
    }

    pub(super) fn insert(&mut self, path: &[String], line: usize) {
        // A table may be named several times; the first place counts.
        let path = joined(path.iter().map(String::as_str));
        Arc::make_mut(&mut self.lines).entry(path).or_insert(Some(line));
    }
}

/// Where the lines of a text end: a job may have a hundred thousand of them, and asks for the line of each key.
pub(super) struct LineEnds(Vec<usize>);

impl LineEnds {
    pub(super) fn of(text: &str) -> Self {
        LineEnds(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// The line, counted from 1, of a position in the text.
    pub(super) fn line_at(&self, position: usize) -> usize {
        self.0.partition_point(|&end| end < position) + 1
    }
}
