//! Which judge of nodes a job asks for, with its options.
//!
//! A job that names none gets the one that [`judge::choose`] picks for its data, so it is settled in two steps: what can be
//! said without the data ([`JudgeChoice::new`]), and the rest ([`JudgeChoice::settle`]).

use incog_core::Result;
use incog_core::algorithm::{self, Traversal};
use incog_core::judge::{self, BitmapOptions, CubeOptions, Intersect, JudgeKind, Materialize, Problem, Stop};
use incog_core::registry::Entry;

use crate::job::{BitmapSets, CountOrText, CubeLevels, Job};

/// A judge as far as it is known without the data.
#[derive(Debug, Clone, Copy)]
pub(crate) enum JudgeChoice {
    /// Named by the job.
    Named(&'static str, JudgeKind),
    /// To be chosen, with a bound on the memory of its sets.
    Free { memory: Option<u64> },
}

impl JudgeChoice {
    /// Checks the options of a job against the judge that it names, if it names one.
    pub(crate) fn new(job: &Job, named: Option<&'static Entry<JudgeKind>>) -> Result<Self> {
        let search = &job.search;
        let settings = [
            ("cube_levels", "cube", search.cube_levels.is_some()),
            ("cube_file", "cube", search.cube_file.is_some()),
            ("bitmap_sets", "bitmap", search.bitmap_sets.is_some()),
            ("bitmap_pruning", "bitmap", search.bitmap_pruning.is_some()),
        ];
        for (key, owner, is_set) in settings {
            if is_set && named.is_none_or(|named| named.name != owner) {
                let mistake = format!("`{key}` goes with checker = \"{owner}\"");
                return Err(job
                    .mistake(&["search", key], mistake)
                    .with_hint(format!("set checker = \"{owner}\"")));
            }
        }
        let memory = search.memory.as_ref().map(|size| bytes(job, size)).transpose()?;
        let Some(named) = named else {
            return Ok(JudgeChoice::Free { memory });
        };
        let kind = match named.item {
            JudgeKind::Cube(_) => {
                let materialize = match search.cube_levels {
                    None | Some(CubeLevels::ZeroLevel) => Materialize::ZeroLevel,
                    Some(CubeLevels::EveryLevel) => Materialize::EveryLevel,
                    Some(CubeLevels::ByBenefit) => Materialize::ByBenefit,
                };
                JudgeKind::Cube(CubeOptions { materialize, memory })
            }
            JudgeKind::Bitmap(best) => {
                let intersect = match search.bitmap_sets {
                    None => best.intersect,
                    Some(BitmapSets::OneLevel) => Intersect::OneLevel,
                    Some(BitmapSets::Reusing) => Intersect::Reusing,
                    Some(BitmapSets::DepthFirst) => Intersect::DepthFirst,
                };
                let stop = match search.bitmap_pruning {
                    None => best.stop,
                    Some(true) => Stop::Early,
                    Some(false) => Stop::AtTheEnd,
                };
                JudgeKind::Bitmap(BitmapOptions { intersect, stop, memory })
            }
            _ if memory.is_some() => {
                return Err(job
                    .mistake(&["search", "memory"], format!("`{}` keeps no sets", named.name))
                    .with_hint("`memory` is for `cube`, `bitmap`, and for jobs without `checker`"));
            }
            other => other,
        };
        Ok(JudgeChoice::Named(named.name, kind))
    }

    /// Does the job name none?
    pub(crate) fn is_free(&self) -> bool {
        matches!(self, JudgeChoice::Free { .. })
    }

    /// The traversal to use where the job names none: `cover`, unless it names a judge that is made for another, or bounds
    /// the memory of what is chosen.
    pub(crate) fn traversal(&self, heights: &[u8]) -> Traversal {
        match self {
            JudgeChoice::Named(_, kind) => algorithm::choose_for(*kind, heights),
            JudgeChoice::Free { memory: Some(_) } => algorithm::choose_for(JudgeKind::RollUp, heights),
            JudgeChoice::Free { memory: None } => algorithm::choose(heights),
        }
    }

    /// The judge and its name, now that the data is there. The estimates are about Incognito's families; `cover` needs
    /// `snapshots`, and other traversals are best off with roll-up.
    pub(crate) fn settle(
        self,
        problem: Problem<'_>,
        traversal: Traversal,
    ) -> Result<(&'static str, JudgeKind)> {
        match self {
            JudgeChoice::Named(name, kind) => Ok((name, kind)),
            JudgeChoice::Free { .. } if traversal == Traversal::Cover => {
                Ok((JudgeKind::Snapshots.name(), JudgeKind::Snapshots))
            }
            JudgeChoice::Free { .. } if traversal != Traversal::Incognito => {
                Ok((JudgeKind::RollUp.name(), JudgeKind::RollUp))
            }
            JudgeChoice::Free { memory } => {
                let kind = judge::choose(problem, memory)?;
                Ok((kind.name(), kind))
            }
        }
    }
}

/// A number of bytes.
fn bytes(job: &Job, size: &CountOrText) -> Result<u64> {
    size.bytes().ok_or_else(|| {
        job.mistake(&["search", "memory"], "`memory` is not a size")
            .with_hint("write bytes, or a number with KB, MB, GB, KiB, MiB or GiB")
    })
}
