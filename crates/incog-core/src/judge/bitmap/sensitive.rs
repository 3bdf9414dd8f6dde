//! Policies that ask for more than the number of rows: histograms of sensitive columns.
//!
//! A sensitive column is indexed like an attribute at level 0. The histogram of a group is the count of its records AND
//! those of each value; where the group is small, each of its records is looked up instead.

use std::sync::Arc;

use super::codes::Codes;
use super::index::{Labelled, sets_of_codes};
use super::ledger::Ledger;
use super::walk::View;
use super::{Operations, walk};
use crate::error::Result;
use crate::frequency::Records;
use crate::group::Measures;
use crate::privacy::Policy;

/// What a policy asks of a group beyond its rows.
pub(super) struct Sensitive {
    columns: Vec<IndexedColumn>,
}

struct IndexedColumn {
    /// Its position among the sensitive columns.
    position: usize,
    codes: Codes,
    values: Vec<Labelled>,
}

impl Sensitive {
    /// Indexes the columns that the policy demands; `None` if it demands none.
    pub(super) fn build(
        records: &dyn Records,
        policy: &Policy,
        ledger: &Arc<Ledger>,
    ) -> Result<Option<Self>> {
        let mut columns = Vec::new();
        for position in policy.demand().histograms {
            let mut all = Vec::new();
            records.visit_sensitive(position, &mut |codes| all.extend_from_slice(codes))?;
            let n_codes = all.iter().max().map_or(0, |&most| most as usize + 1);
            let mut codes = Codes::with_room(n_codes, all.len());
            codes.extend(&all);
            ledger.add(Codes::n_bytes(n_codes, all.len()));
            let sets = sets_of_codes(&codes, n_codes, all.len());
            let values = sets
                .into_iter()
                .zip(0..)
                .filter(|(set, _)| set.count() > 0)
                .map(|(set, label)| Labelled { label, set: ledger.enter(set) })
                .collect();
            columns.push(IndexedColumn { position, codes, values });
        }
        Ok((!columns.is_empty()).then_some(Sensitive { columns }))
    }

    /// Does the policy admit a group of these records?
    pub(super) fn admits(&self, policy: &Policy, set: View<'_>, operations: &mut Operations) -> Result<bool> {
        let histograms =
            self.columns.iter().map(|column| (column.position, column.histogram(set, operations)));
        let measures = Measures::of_one(set.count(), histograms.collect());
        policy.admits(measures.group(0))
    }
}

impl IndexedColumn {
    /// The values of these records with their counts, sorted by code.
    fn histogram(&self, set: View<'_>, operations: &mut Operations) -> Vec<(u32, u64)> {
        if !set.is_small_for(self.values.len()) {
            operations.ands += self.values.len() as u64;
            operations.counts += self.values.len() as u64;
            let counts = self.values.iter().map(|value| {
                let count = walk::and_count(set, View::of(&value.set));
                (value.label, count)
            });
            return counts.filter(|(_, count)| *count > 0).collect();
        }
        operations.look_ups += set.count();
        let mut codes = Vec::with_capacity(set.count() as usize);
        match set {
            View::Bits(bits, _) => self.codes.look_up_bits(bits, |_, code| codes.push(code)),
            View::List(list) => self.codes.look_up(list, |_, code| codes.push(code)),
        }
        codes.sort_unstable();
        codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
    }
}
