//! What one task uses again and again: the profile of a part in an attribute, and what a policy sees.

use crate::algorithm::mondrian::cut::Cut;
use crate::algorithm::mondrian::part::Part;
use crate::algorithm::mondrian::point::Point;
use crate::group::ChangingGroup;
use crate::privacy::Policy;

/// Memory that one task uses again and again.
pub(super) struct Scratch {
    counts: Vec<u32>,
    /// The positions of a part in one attribute with their records, ascending.
    pub(super) profile: Vec<(u32, u32)>,
    /// Attributes by the width of the part in them.
    pub(super) order: Vec<(f64, usize)>,
    /// The cut that is tried.
    pub(super) cut: Cut,
    pub(super) sensitive: Vec<u32>,
    /// What the policy sees.
    pub(super) group: ChangingGroup,
}

impl Scratch {
    pub(super) fn new(policy: &Policy) -> Self {
        Scratch {
            counts: Vec::new(),
            profile: Vec::new(),
            order: Vec::new(),
            cut: Cut::default(),
            sensitive: Vec::new(),
            group: ChangingGroup::new(&policy.demand()),
        }
    }

    /// Counts the records at each position of an attribute.
    pub(super) fn profile<P: Point>(&mut self, part: &Part<'_, P>, at: usize, (least, greatest): (u32, u32)) {
        let Scratch { counts, profile, .. } = self;
        profile.clear();
        let reach = (greatest - least) as usize + 1;
        if reach <= 4 * part.len() + 64 {
            counts.clear();
            counts.resize(reach, 0);
            for (position, rows) in part.positions(at) {
                counts[(position - least) as usize] += rows;
            }
            let counted = (least..).zip(counts.iter().copied());
            profile.extend(counted.filter(|&(_, rows)| rows > 0));
        } else {
            profile.extend(part.positions(at));
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
