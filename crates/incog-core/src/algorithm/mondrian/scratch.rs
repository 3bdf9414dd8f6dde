//! What one task uses again and again: the profile of a part in an attribute, and what a policy sees.

use crate::algorithm::mondrian::part::Part;
use crate::group::{ChangingGroup, Demand};
use crate::privacy::Policy;

/// Memory that one task uses again and again.
pub(super) struct Scratch {
    pub(super) counts: Vec<u64>,
    /// The positions of a part in one attribute with their records, ascending.
    pub(super) profile: Vec<(u32, u64)>,
    pub(super) sensitive: Vec<u32>,
    /// What the policy sees.
    pub(super) group: ChangingGroup,
    /// The same of rows alone.
    pub(super) counted: ChangingGroup,
}

impl Scratch {
    pub(super) fn new(policy: &Policy) -> Self {
        Scratch {
            counts: Vec::new(),
            profile: Vec::new(),
            sensitive: Vec::new(),
            group: ChangingGroup::new(&policy.demand()),
            counted: ChangingGroup::new(&Demand::default()),
        }
    }

    /// Counts the records at each position of an attribute.
    pub(super) fn profile(&mut self, part: &Part<'_>, at: usize, (least, greatest): (u32, u32)) {
        let Scratch { counts, profile, .. } = self;
        profile.clear();
        let reach = (greatest - least) as usize + 1;
        if reach <= 4 * part.len() + 64 {
            counts.clear();
            counts.resize(reach, 0);
            for (position, rows) in part.positions(at) {
                counts[(position - least) as usize] += u64::from(rows);
            }
            let counted = (least..).zip(counts.iter().copied());
            profile.extend(counted.filter(|&(_, rows)| rows > 0));
        } else {
            profile.extend(part.positions(at).map(|(position, rows)| (position, u64::from(rows))));
            profile.sort_unstable();
            profile.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    earlier.1 += later.1;
                }
                is_same
            });
        }
    }
}
