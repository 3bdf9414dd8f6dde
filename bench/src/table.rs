//! One Markdown table of ratios, with the work behind the last row.

use std::fmt::Write;

use crate::{Contestant, Measured};

pub(crate) struct Table {
    text: String,
    names: Vec<&'static str>,
    work: String,
}

impl Table {
    pub(crate) fn new(first: &str, contestants: &[Contestant]) -> Self {
        let names: Vec<&str> = contestants.iter().map(|contestant| contestant.name).collect();
        let mut text = format!("| {first} | base | {} |\n", names.join(" | "));
        text.push_str(&"|---".repeat(names.len() + 2));
        text.push_str("|\n");
        Table { text, names, work: String::new() }
    }

    pub(crate) fn row(&mut self, label: &str, cells: &[Option<Measured>]) {
        let base = cells.iter().flatten().next().map_or(0.0, |cell| cell.base.as_secs_f64() * 1000.0);
        let _ = write!(self.text, "| {label} | {base:.2} ms |");
        self.work = format!("work at {label}:");
        let mut holding = None;
        for (cell, name) in cells.iter().zip(&self.names) {
            match cell {
                Some(measured) => {
                    let _ = write!(self.text, " {:.1} |", measured.ratio());
                    let _ = write!(
                        self.work,
                        "\n- {name}: {} nodes checked, {} grouped, {} scans, {} groups touched",
                        measured.work.nodes_checked,
                        measured.work.nodes_grouped,
                        measured.work.table_scans,
                        measured.work.groups_touched
                    );
                    // Binary search finds a single node; the others must agree.
                    if measured.holding > 1 {
                        assert!(
                            *holding.get_or_insert(measured.holding) == measured.holding,
                            "{name} disagrees"
                        );
                    }
                }
                None => self.text.push_str(" – |"),
            }
        }
        self.text.push('\n');
    }

    pub(crate) fn render(&self) -> String {
        format!("{}\n{}", self.text, self.work)
    }
}
