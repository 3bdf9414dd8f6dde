//! Is every combination of a few quasi-identifiers k-anonymous?
//!
//! The claim (k, m): for every set of at most m quasi-identifiers, every combination of their labels that is released stands in at least k
//! released rows. Only sets of exactly m (or of all, if there are fewer) need to be counted: whatever is common to m labels
//! is at least as common for some of them.
//!
//! It takes the place of the claim that all quasi-identifiers together are k-anonymous, which would imply it.

use std::collections::BTreeMap;

use crate::words::counted;
use crate::{ClaimKind, Claims, Finding, Report};

/// More sets of columns than this are not counted: the claim is then undecided.
const MAX_SETS: usize = 200_000;

/// The smallest combination of labels found so far.
#[derive(Default)]
pub(crate) struct Smallest {
    /// Its rows, and the quasi-identifiers, by their places in the claims.
    found: Option<(u64, Vec<usize>)>,
}

impl Smallest {
    /// Takes the combinations of some quasi-identifiers into account, given how many rows each has.
    pub(crate) fn add(&mut self, set: &[usize], rows: impl Iterator<Item = u64>) {
        if let Some(rows) = rows.min()
            && self.found.as_ref().is_none_or(|(least, _)| rows < *least)
        {
            self.found = Some((rows, set.to_vec()));
        }
    }
}

/// Adds the claim to a report, if there is one. `count` takes a set of quasi-identifiers into account.
pub(crate) fn check(
    claims: &Claims<'_>,
    report: &mut Report,
    mut count: impl FnMut(&[usize], &mut Smallest),
) {
    let Some(most) = claims.combinations else {
        return;
    };
    let names = claims.quasi_identifiers.join(", ");
    let finding = |found: String, holds: bool| Finding {
        kind: ClaimKind::Anonymity,
        claim: format!("{}-anonymity of every combination of at most {most} of {names}", claims.k),
        found,
        holds,
    };
    if most == 0 {
        report.findings.push(finding("a combination of none says nothing".into(), false));
        return;
    }
    let Some(sets) = sets(claims.quasi_identifiers.len(), most) else {
        report.undecided.push(finding(format!("there are more than {MAX_SETS} to count"), false));
        return;
    };
    let mut smallest = Smallest::default();
    for set in &sets {
        count(set, &mut smallest);
    }
    report.findings.push(match smallest.found {
        None => finding("no rows".into(), true),
        Some((rows, set)) => {
            let columns: Vec<&str> = set.iter().map(|&at| claims.quasi_identifiers[at].as_str()).collect();
            finding(
                format!("the smallest has {}, of {}", counted(rows, "row", "rows"), columns.join(", ")),
                rows >= claims.k,
            )
        }
    });
}

/// How many rows have each combination, given the label of each group (as a number) in some columns, and its rows.
pub(crate) fn sizes(columns: &[&[u32]], rows: &[u32]) -> Vec<u64> {
    let mut sizes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for (group, &rows) in rows.iter().enumerate() {
        *sizes.entry(columns.iter().map(|numbers| numbers[group]).collect()).or_insert(0) += u64::from(rows);
    }
    sizes.into_values().collect()
}

/// Every set of exactly `size` of `n` places, or of all if there are fewer. `None` if there are too many.
fn sets(n: usize, size: usize) -> Option<Vec<Vec<usize>>> {
    let size = size.min(n);
    let mut set: Vec<usize> = (0..size).collect();
    let mut sets = Vec::new();
    loop {
        if sets.len() == MAX_SETS {
            return None;
        }
        sets.push(set.clone());
        // The last place that can still move on does; those behind it follow.
        let Some(at) = (0..size).rev().find(|&at| set[at] < n - size + at) else {
            return Some(sets);
        };
        set[at] += 1;
        for behind in at + 1..size {
            set[behind] = set[behind - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StringTable, check as check_all};

    fn report(text: &str, k: u64, most: usize) -> Report {
        let table = StringTable::parse(text.as_bytes(), b',').unwrap();
        let claims = Claims {
            quasi_identifiers: ["a", "b", "c"].map(str::to_owned).to_vec(),
            k,
            combinations: Some(most),
            columns: None,
            sensitive: Vec::new(),
            source: None,
        };
        check_all(&table, &claims)
    }

    /// Every pair of labels stands twice, every triple once.
    const CUBE: &str = "a,b,c\n0,0,0\n0,0,1\n0,1,0\n0,1,1\n1,0,0\n1,0,1\n1,1,0\n1,1,1\n";

    #[test]
    fn pairs_may_be_common_where_triples_are_not() {
        assert!(report(CUBE, 4, 1).holds());
        assert!(report(CUBE, 2, 2).holds());
        assert_eq!(
            report(CUBE, 2, 3).findings[0].to_string(),
            "FAIL  2-anonymity of every combination of at most 3 of a, b, c (the smallest has 1 row, of a, b, c)"
        );
        assert!(!report(CUBE, 3, 2).holds() && !report(CUBE, 1, 0).holds());
        assert!(report("a,b,c\n", 5, 2).holds(), "nobody is exposed by no rows");
        // One row less breaks a pair, and the finding names its columns.
        let broken = CUBE.replace("1,1,1\n", "");
        assert!(report(&broken, 2, 2).findings[0].found.starts_with("the smallest has 1 row"));
        assert!(report(&broken, 3, 1).holds());
    }

    #[test]
    fn every_set_is_looked_at_once() {
        assert_eq!(sets(4, 2).unwrap(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(sets(2, 5).unwrap(), [[0, 1]]);
        assert_eq!(sets(20, 3).unwrap().len(), 1140);
        assert_eq!(sets(60, 30), None);
    }
}
