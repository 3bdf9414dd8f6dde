//! Is a released table what it claims to be?
//!
//! Reads nothing but released labels, as strings, and regroups them from scratch. Shares no code with the engine
//! and depends on nothing: whoever distrusts the anonymizer need only read this crate.
//!
//! A [`Verified`] release cannot be made in any other way than by [`verify`]; sinks accept nothing else.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fmt;

/// A table of labels.
pub trait Labels {
    /// The columns' names.
    fn header(&self) -> Vec<&str>;
    /// How many rows there are.
    fn n_rows(&self) -> usize;
    /// One cell.
    fn cell(&self, row_idx: usize, column_idx: usize) -> &str;
}

/// What is claimed of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The columns that an outsider may know.
    pub quasi_identifiers: Vec<String>,
    /// Every combination of their labels stands at least this often.
    pub k: u64,
    /// How many rows the release must have: rows collected less rows suppressed.
    pub released_rows: u64,
}

/// One claim, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The claim in words.
    pub claim: String,
    /// What was measured.
    pub measured: String,
    /// Do they agree?
    pub holds: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds { "holds" } else { "fails" };
        write!(f, "{verdict}: {} (measured: {})", self.claim, self.measured)
    }
}

/// A release whose claims were all found true.
#[derive(Debug)]
pub struct Verified<R> {
    release: R,
    findings: Vec<Finding>,
}

impl<R> Verified<R> {
    /// The release.
    pub fn release(&self) -> &R {
        &self.release
    }

    /// What was checked.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Checks every claim. Returns all findings if one of them fails.
pub fn verify<R: Labels>(release: R, claims: &Claims) -> Result<Verified<R>, Vec<Finding>> {
    let mut findings = Vec::new();
    let header = release.header();
    let positions: Vec<Option<usize>> =
        claims.quasi_identifiers.iter().map(|name| header.iter().position(|column| column == name)).collect();
    let n_missing = positions.iter().filter(|position| position.is_none()).count();
    findings.push(Finding {
        claim: "every quasi-identifier is a column of the release".into(),
        measured: format!("{n_missing} missing"),
        holds: n_missing == 0,
    });
    let positions: Vec<usize> = positions.into_iter().flatten().collect();

    let mut groups: HashMap<Vec<&str>, u64> = HashMap::new();
    for row_idx in 0..release.n_rows() {
        let labels = positions.iter().map(|&column_idx| release.cell(row_idx, column_idx)).collect();
        *groups.entry(labels).or_insert(0) += 1;
    }
    let smallest = groups.values().copied().min();
    findings.push(Finding {
        claim: format!("{}-anonymity relative to {}", claims.k, claims.quasi_identifiers.join(", ")),
        measured: smallest.map_or("no rows".into(), |rows| format!("smallest group has {rows} rows")),
        holds: smallest.is_none_or(|rows| rows >= claims.k),
    });
    let n_rows = release.n_rows() as u64;
    findings.push(Finding {
        claim: format!("{} rows are released", claims.released_rows),
        measured: format!("{n_rows} rows"),
        holds: n_rows == claims.released_rows,
    });

    if findings.iter().all(|finding| finding.holds) {
        Ok(Verified { findings, release })
    } else {
        Err(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Table(Vec<[&'static str; 2]>);

    impl Labels for Table {
        fn header(&self) -> Vec<&str> {
            vec!["sex", "zip"]
        }

        fn n_rows(&self) -> usize {
            self.0.len()
        }

        fn cell(&self, row_idx: usize, column_idx: usize) -> &str {
            self.0[row_idx][column_idx]
        }
    }

    fn check(rows: &[[&'static str; 2]], k: u64, released_rows: u64) -> Vec<bool> {
        let claims = Claims { quasi_identifiers: vec!["sex".into(), "zip".into()], k, released_rows };
        let findings = match verify(Table(rows.to_vec()), &claims) {
            Ok(verified) => verified.findings().to_vec(),
            Err(findings) => findings,
        };
        findings.iter().map(|finding| finding.holds).collect()
    }

    #[test]
    fn the_smallest_group_decides() {
        let rows = [["f", "1*"], ["f", "1*"], ["m", "1*"], ["m", "1*"], ["m", "1*"]];
        assert_eq!(check(&rows, 2, 5), [true, true, true]);
        assert_eq!(check(&rows, 3, 5), [true, false, true]);
        assert_eq!(check(&[], 3, 0), [true, true, true]);
    }

    #[test]
    fn lost_rows_and_lost_columns_are_noticed() {
        assert_eq!(check(&[["f", "1*"], ["f", "1*"]], 2, 3), [true, true, false]);
        let claims = Claims { quasi_identifiers: vec!["age".into()], k: 1, released_rows: 1 };
        let findings = verify(Table(vec![["f", "1*"]]), &claims).unwrap_err();
        assert_eq!(
            findings[0].to_string(),
            "fails: every quasi-identifier is a column of the release (measured: 1 missing)"
        );
    }
}
