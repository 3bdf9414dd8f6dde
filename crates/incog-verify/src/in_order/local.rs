//! Can the released rows be assigned input rows in their order, if each cell may be generalized by itself?
//!
//! In any order that takes a flow ([`crate::local`]); in the input's it takes one look: a released row takes the next input row that it may
//! stand for. If they can be assigned in order at all, they can be so: whoever takes the first row that fits leaves more to those behind.
//!
//! Cost: a look at both tables. Memory: the paths of the values, and some rows at a time.

use rayon::prelude::*;

use super::index::Index;
use super::keys::Folder;
use super::{BLOCK, Compared, Comparison, Other, ROWS};
use crate::Report;
use crate::against_input::{CELLS_CLAIM, check_assigned};
use crate::keys::Numbers;
use crate::local::{PathColumn, Unassigned};

/// When may a released cell stand for a cell of the input?
enum Rule {
    /// If they are equal.
    Equal(Other),
    /// If its label is on the value's path.
    OnPath(usize, PathColumn),
}

impl Rule {
    /// Where the column stands in the release.
    fn at(&self) -> usize {
        match self {
            Rule::Equal(other) => other.at,
            Rule::OnPath(at, _) => *at,
        }
    }

    fn fits(&self, released: u32, collected: u32) -> bool {
        let (released, collected) = (released as usize, collected as usize);
        match self {
            Rule::Equal(other) => other.of_released[released] == other.of_collected[collected],
            Rule::OnPath(_, column) => {
                let path = &column.paths[column.of_value[collected] as usize];
                path.contains(&column.of_label[released])
            }
        }
    }
}

impl Comparison<'_> {
    /// Checks a release whose cells were generalized one by one.
    pub(super) fn check_cells(&self, report: &mut Report) {
        let compared = self.released_groups();
        report.add_sizes(self.claims, compared.released.sizes());
        self.combinations(report);
        self.sensitive(&compared, report);
        self.budget(report);
        let unassigned = self.unassigned();
        check_assigned(CELLS_CLAIM, &unassigned, self.claims, self.source, &mut report.findings);
    }

    /// The groups of equal released labels.
    fn released_groups(&self) -> Compared {
        let mut folder = Folder::default();
        for &at in self.quasi {
            let mut numbers = Numbers::default();
            let of_released = numbers.all(self.release.labels(at));
            folder.add([(at, of_released), (at, Vec::new())], numbers.len());
        }
        let mut released = Index::default();
        let n_rows = self.release.n_rows();
        for first in (0..n_rows).step_by(ROWS) {
            released.add(&folder.keys(self.release, 0, first..n_rows.min(first + ROWS)));
        }
        Compared { first_strange_row: None, left_out: Index::default(), folder, released }
    }

    /// The released rows that no input row is left for, from the first one on.
    fn unassigned(&self) -> Unassigned {
        let (input, release) = (self.source.input, self.release);
        let quasi = self.quasi.iter().zip(&self.source.hierarchies).map(|(&at, hierarchy)| {
            let (released, collected) = (release.labels(at), input.labels(self.origins[at]));
            Rule::OnPath(at, PathColumn::new(&released, &collected, hierarchy))
        });
        let rules: Vec<Rule> = quasi.chain(self.others().into_iter().map(Rule::Equal)).collect();
        let (n_input, n_released) = (input.n_rows(), release.n_rows());
        let mut next = 0;
        for first in (0..n_input).step_by(BLOCK) {
            let n = BLOCK.min(n_input - first);
            let n_open = n.min(n_released - next);
            let read = |rule: &Rule| {
                let (mut released, mut collected) = (vec![0; n_open], vec![0; n]);
                release.codes_from(rule.at(), next, &mut released);
                input.codes_from(self.origins[rule.at()], first, &mut collected);
                (released, collected)
            };
            let codes: Vec<(Vec<u32>, Vec<u32>)> = rules.par_iter().map(read).collect();
            let mut n_assigned = 0;
            for row in 0..n {
                let fits = |(rule, (released, collected)): (&Rule, &(Vec<u32>, Vec<u32>))| {
                    rule.fits(released[n_assigned], collected[row])
                };
                if n_assigned == n_open {
                    break;
                }
                n_assigned += usize::from(rules.iter().zip(&codes).all(fits));
            }
            next += n_assigned;
        }
        Unassigned { rows: (n_released - next) as u64, first_row: (next < n_released).then_some(next) }
    }
}
