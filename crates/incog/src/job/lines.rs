//! On which line does a key stand?

use std::collections::HashMap;

/// The line of every key of a job file.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// `None` where something else than the job file has said it.
    lines: HashMap<Vec<String>, Option<usize>>,
}

impl Lines {
    /// The line of a key, or of the nearest table around it.
    pub fn of(&self, path: &[&str]) -> Option<usize> {
        let mut path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        while !path.is_empty() {
            if let Some(&line) = self.lines.get(&path) {
                return line;
            }
            path.pop();
        }
        None
    }

    /// A key's value no longer comes from the job file (but from a flag, say): it has no line any more.
    pub fn forget(&mut self, path: &[&str]) {
        self.lines.insert(path.iter().map(|&key| key.to_owned()).collect(), None);
    }

    /// The same for a key and everything below it.
    pub fn forget_below(&mut self, path: &[&str]) {
        self.lines.retain(|key, _| key.len() <= path.len() || !key.iter().zip(path).all(|(a, b)| a == b));
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
        for (path, &line) in &others.lines {
            if path.len() >= from.len() && path.iter().zip(from).all(|(a, b)| a == b) {
                let moved = to.iter().map(|&key| key.to_owned()).chain(path[from.len()..].iter().cloned());
                self.lines.insert(moved.collect(), line);
            }
        }
    }

    pub(super) fn insert(&mut self, path: &[String], line: usize) {
        // A table may be named several times; the first place counts.
        self.lines.entry(path.to_vec()).or_insert(Some(line));
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
