//! How large are the groups of a release, and what does that mean for whoever is in them?
//!
//! The *prosecutor* knows that somebody is in the release and which group it is; the chance to pick the right one of the group is one
//! in its size. The largest such chance is that of the smallest group, the mean is over everybody: groups by all who are in them. Where
//! persons are counted, they are of persons.

use incog_verify::Report;

/// Sizes of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups {
    /// How many there are.
    pub(crate) n: u64,
    /// All their rows.
    pub(crate) rows: u64,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    /// Twice the median, which may lie halfway between two sizes.
    twice_the_median: u64,
    /// The fewest that a row may belong to, in rows or persons.
    pub(crate) fewest: u64,
    /// All of them together.
    pub(crate) all: u64,
}

impl Groups {
    /// Of a checked release.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        let sizes = &report.group_sizes;
        let (&(smallest, _), &(largest, _)) = (sizes.first()?, sizes.last()?);
        let n: u64 = sizes.iter().map(|(_, groups)| groups).sum();
        let rows = sizes.iter().map(|(rows, groups)| rows * groups).sum();
        let nth = |wanted: u64| {
            let mut seen = 0;
            let reaches = |&&(_, groups): &&(u64, u64)| {
                seen += groups;
                seen > wanted
            };
            sizes.iter().find(reaches).map_or(largest, |&(rows, _)| rows)
        };
        let persons = report.fewest_persons.zip(report.persons_of_groups);
        let (fewest, all) = persons.unwrap_or((smallest, rows));
        Some(Groups {
            n,
            rows,
            smallest,
            largest,
            twice_the_median: nth((n - 1) / 2) + nth(n / 2),
            fewest,
            all,
        })
    }

    /// Half of the groups are at most this large.
    pub(crate) fn median(&self) -> f64 {
        self.twice_the_median as f64 / 2.0
    }

    pub(crate) fn mean(&self) -> f64 {
        self.rows as f64 / self.n as f64
    }

    /// The greatest chance to pick the right one of a group.
    pub(crate) fn largest_risk(&self) -> f64 {
        1.0 / self.fewest.max(1) as f64
    }

    /// The mean over everybody.
    pub(crate) fn mean_risk(&self) -> f64 {
        self.n as f64 / self.all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(sizes: &[(u64, u64)]) -> Groups {
        let mut report = Report::default();
        report.group_sizes = sizes.to_vec();
        Groups::of(&report).unwrap()
    }

    #[test]
    fn the_median_is_of_groups_and_the_mean_risk_of_rows() {
        // 2, 2, 3, 9
        let even = groups(&[(2, 2), (3, 1), (9, 1)]);
        assert_eq!((even.n, even.rows, even.smallest, even.largest), (4, 16, 2, 9));
        assert_eq!((even.median(), even.mean()), (2.5, 4.0));
        assert_eq!((even.largest_risk(), even.mean_risk()), (0.5, 0.25));
        assert_eq!(groups(&[(2, 1), (3, 1), (9, 1)]).median(), 3.0);
        assert_eq!(Groups::of(&Report::default()), None);
    }

    #[test]
    fn persons_count_where_they_were_counted() {
        let mut report = Report::default();
        report.group_sizes = vec![(6, 2)];
        (report.fewest_persons, report.persons_of_groups) = (Some(4), Some(10));
        let groups = Groups::of(&report).unwrap();
        assert_eq!((groups.largest_risk(), groups.mean_risk(), groups.mean()), (0.25, 0.2, 6.0));
    }
}
