//! What is a cut in an attribute with a hierarchy? A label that is specialized, with all labels above it.

/// What can be specialized in an attribute with a hierarchy.
pub(super) struct Splits {
    /// The positions before which another label begins at the top.
    pub(super) tops: Vec<u32>,
    /// For each label that has several below it, the positions before which a cut is made when it is specialized, ascending: those of
    /// labels above it, too. Labels from the top down.
    pub(super) below: Vec<Vec<u32>>,
}

impl Splits {
    /// Given the label of each position at each level; every label is a run of positions.
    pub(super) fn of(labels: &[Vec<u32>]) -> Self {
        let begins = |level: usize| {
            let labels = &labels[level];
            (1..labels.len()).filter(|&at| labels[at] != labels[at - 1]).map(|at| at as u32).collect()
        };
        let height = labels.len() - 1;
        let tops: Vec<u32> = begins(height);
        // The label of each run at a level, with all cuts that were made above it.
        let mut runs: Vec<(std::ops::Range<u32>, Vec<u32>)> = Vec::new();
        let ends = tops.iter().copied().chain([labels[0].len() as u32]);
        let mut start = 0;
        for end in ends {
            runs.push((start..end, tops.clone()));
            start = end;
        }
        let mut below = Vec::new();
        for level in (0..height).rev() {
            let all: Vec<u32> = begins(level);
            let mut finer = Vec::new();
            for (run, above) in runs {
                let inside: Vec<u32> =
                    all.iter().copied().filter(|&at| run.start < at && at < run.end).collect();
                let mut cuts = [above.as_slice(), &inside].concat();
                cuts.sort_unstable();
                if !inside.is_empty() {
                    below.push(cuts.clone());
                }
                let mut start = run.start;
                for end in inside.iter().copied().chain([run.end]) {
                    finer.push((start..end, cuts.clone()));
                    start = end;
                }
            }
            runs = finer;
        }
        Splits { tops, below }
    }
}
