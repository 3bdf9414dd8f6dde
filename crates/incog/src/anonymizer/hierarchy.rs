//! What the values of a quasi-identifier may become, as a program says it.

use std::path::PathBuf;

use crate::job::{BranchJob, Builtin, DateUnit, HierarchyJob, IntervalsOf, MaskSide, NumberOrText, TreeJob};

/// A number in a hierarchy, exactly as written: a whole number, a decimal, or text such as a date.
///
/// ```
/// use incog::{Hierarchy, Number};
///
/// let income: [Number; 2] = ["0.5".into(), "2.5".into()];
/// let income = Hierarchy::intervals(income);
/// ```
pub type Number = NumberOrText;

/// What the values of a quasi-identifier may become, level by level; level 0 is as collected, the highest is `*`.
///
/// ```
/// use incog::{DateUnit, Hierarchy};
///
/// let age = Hierarchy::intervals([5, 10, 20]).top(90);
/// let born = Hierarchy::dates([DateUnit::Month, DateUnit::Year]);
/// let zip = Hierarchy::mask_right().length(5);
/// let country = Hierarchy::tree([("Europe", ["DE", "FR"]), ("Asia", ["JP", "KR"])]);
/// let job = Hierarchy::file("hierarchies/job.csv").levels([0, 2]);
/// ```
#[derive(Debug, Clone)]
pub struct Hierarchy(HierarchyJob);

impl Hierarchy {
    /// Values are kept or replaced by `*`.
    pub fn suppress() -> Self {
        Hierarchy(HierarchyJob { suppress: Some(true), ..HierarchyJob::default() })
    }

    /// Ever wider intervals, each width a multiple of the one before: `[5, 10, 20]`.
    pub fn intervals<N: Into<Number>>(widths: impl IntoIterator<Item = N>) -> Self {
        let intervals = Some(widths.into_iter().map(Into::into).collect());
        Hierarchy(HierarchyJob { intervals, ..HierarchyJob::default() })
    }

    /// The same of dates; widths are in days.
    pub fn date_intervals<N: Into<Number>>(days: impl IntoIterator<Item = N>) -> Self {
        let mut hierarchy = Hierarchy::intervals(days);
        hierarchy.0.of = Some(IntervalsOf::Dates);
        hierarchy
    }

    /// Calendar units from fine to coarse.
    pub fn dates(units: impl IntoIterator<Item = DateUnit>) -> Self {
        Hierarchy(HierarchyJob { dates: Some(units.into_iter().collect()), ..HierarchyJob::default() })
    }

    /// One character after the other replaced by `*`, from the right: 5371*, 537**.
    pub fn mask_right() -> Self {
        Hierarchy(HierarchyJob { mask: Some(MaskSide::Right), ..HierarchyJob::default() })
    }

    /// One character after the other replaced by `*`, from the left: *3715, **715.
    pub fn mask_left() -> Self {
        Hierarchy(HierarchyJob { mask: Some(MaskSide::Left), ..HierarchyJob::default() })
    }

    /// Labels, each with the values below it. For more levels, write a [`file`](Self::file).
    pub fn tree<L, V>(branches: impl IntoIterator<Item = (L, V)>) -> Self
    where
        L: Into<String>,
        V: IntoIterator,
        V::Item: Into<String>,
    {
        let branch = |(label, values): (L, V)| {
            (label.into(), BranchJob::Leaves(values.into_iter().map(Into::into).collect()))
        };
        let tree = Some(TreeJob::Branches(branches.into_iter().map(branch).collect()));
        Hierarchy(HierarchyJob { tree, ..HierarchyJob::default() })
    }

    /// A hierarchy that everybody uses.
    pub fn builtin(builtin: Builtin) -> Self {
        Hierarchy(HierarchyJob { builtin: Some(builtin), ..HierarchyJob::default() })
    }

    /// As many values as this, the most frequent ones, are kept, and the rest is called `other`.
    pub fn frequent(n: u64) -> Self {
        Hierarchy(HierarchyJob { frequent: Some(n), ..HierarchyJob::default() })
    }

    /// Rare siblings are merged until each label has at least this many rows: of a flat list of values, of a [`file`](Self::file), a
    /// [`tree`](Self::tree), or what is [`builtin`](Self::builtin).
    #[must_use]
    pub fn rare(mut self, rows: u64) -> Self {
        self.0.rare = Some(rows);
        self.0.suppress = None;
        self
    }

    /// A file: `value;level 1;...;*`, one row a value.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Hierarchy(HierarchyJob { file: Some(path.into()), ..HierarchyJob::default() })
    }

    /// Of intervals: where one starts; 0 or 1970-01-01 unless given.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<Number>) -> Self {
        self.0.origin = Some(origin.into());
        self
    }

    /// Of intervals: values lie from the first up to but not including the second.
    #[must_use]
    pub fn bounds(mut self, least: impl Into<Number>, end: impl Into<Number>) -> Self {
        self.0.bounds = Some([least.into(), end.into()]);
        self
    }

    /// Of intervals: values below are pooled.
    #[must_use]
    pub fn bottom(mut self, bottom: impl Into<Number>) -> Self {
        self.0.bottom = Some(bottom.into());
        self
    }

    /// Of intervals: values from here on are pooled.
    #[must_use]
    pub fn top(mut self, top: impl Into<Number>) -> Self {
        self.0.top = Some(top.into());
        self
    }

    /// Of a mask: how many characters values have at most; shorter ones are padded.
    #[must_use]
    pub fn length(mut self, characters: usize) -> Self {
        self.0.length = Some(characters);
        self
    }

    /// Of a mask: whole numbers with fewer digits get leading zeros up to this many, before anything else.
    #[must_use]
    pub fn pad(mut self, digits: usize) -> Self {
        self.0.pad = Some(digits);
        self
    }

    /// Only these levels may be chosen.
    #[must_use]
    pub fn levels(mut self, levels: impl IntoIterator<Item = u8>) -> Self {
        self.0.levels = Some(levels.into_iter().collect());
        self
    }

    /// What a missing value is called once it is generalized; `(missing)` unless given.
    #[must_use]
    pub fn missing(mut self, label: impl Into<String>) -> Self {
        self.0.missing = Some(label.into());
        self
    }

    pub(super) fn into_job(self) -> HierarchyJob {
        self.0
    }
}

/// What a job file says behind `hierarchy =`.
impl From<HierarchyJob> for Hierarchy {
    fn from(job: HierarchyJob) -> Self {
        Hierarchy(job)
    }
}

impl From<i64> for NumberOrText {
    fn from(number: i64) -> Self {
        NumberOrText::Whole(number)
    }
}

impl From<i32> for NumberOrText {
    fn from(number: i32) -> Self {
        NumberOrText::Whole(number.into())
    }
}

impl From<f64> for NumberOrText {
    fn from(number: f64) -> Self {
        NumberOrText::Decimal(number)
    }
}

impl From<&str> for NumberOrText {
    fn from(text: &str) -> Self {
        NumberOrText::Text(text.to_owned())
    }
}

impl From<String> for NumberOrText {
    fn from(text: String) -> Self {
        NumberOrText::Text(text)
    }
}
