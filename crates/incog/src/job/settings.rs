//! Which settings of `[search]` belong to which algorithm?
//!
//! An algorithm's entry says ([`Algorithm::settings`]). A setting that would have no effect is refused: whoever wrote it expects
//! one. Where several algorithms are compared,
//! each has its own and is spared the others'.

use std::time::Duration;

use incog_core::algorithm::{self, Algorithm, Family, Limits, Setting};
use incog_core::registry::Entry;
use incog_core::{Error, Result};

use crate::job::{CutMethodJob, Job, SearchJob};

/// Is a setting given?
fn is_set(search: &SearchJob, setting: Setting) -> bool {
    match setting {
        Setting::Judge => search.checker.is_some(),
        Setting::Marking => search.marking.is_some(),
        Setting::OneLabel => search.one_label.is_some(),
        Setting::Memory => search.memory.is_some(),
        Setting::CubeLevels => search.cube_levels.is_some(),
        Setting::CubeFile => search.cube_file.is_some(),
        Setting::BitmapSets => search.bitmap_sets.is_some(),
        Setting::BitmapPruning => search.bitmap_pruning.is_some(),
        Setting::Decide => search.decide.is_some(),
        Setting::Seed => search.seed.is_some(),
        Setting::TimeLimit => search.time_limit.is_some(),
        Setting::MaxSteps => search.max_steps.is_some(),
        Setting::MondrianCuts => search.mondrian_cuts.is_some(),
        Setting::MondrianChoice => search.mondrian_choice.is_some(),
        Setting::MondrianSides => search.mondrian_sides.is_some(),
        Setting::CellMethod => search.cell_method.is_some(),
        Setting::SuppressionMethod => search.suppression_method.is_some(),
        Setting::CutMethod => search.cut_method.is_some(),
        Setting::LookAhead => search.look_ahead.is_some(),
    }
}

/// Leaves a setting out.
fn forget(search: &mut SearchJob, setting: Setting) {
    match setting {
        Setting::Judge => search.checker = None,
        Setting::Marking => search.marking = None,
        Setting::OneLabel => search.one_label = None,
        Setting::Memory => search.memory = None,
        Setting::CubeLevels => search.cube_levels = None,
        Setting::CubeFile => search.cube_file = None,
        Setting::BitmapSets => search.bitmap_sets = None,
        Setting::BitmapPruning => search.bitmap_pruning = None,
        Setting::Decide => search.decide = None,
        Setting::Seed => search.seed = None,
        Setting::TimeLimit => search.time_limit = None,
        Setting::MaxSteps => search.max_steps = None,
        Setting::MondrianCuts => search.mondrian_cuts = None,
        Setting::MondrianChoice => search.mondrian_choice = None,
        Setting::MondrianSides => search.mondrian_sides = None,
        Setting::CellMethod => search.cell_method = None,
        Setting::SuppressionMethod => search.suppression_method = None,
        Setting::CutMethod => search.cut_method = None,
        Setting::LookAhead => search.look_ahead = None,
    }
}

/// Does the algorithm know a setting? Without a name it is a full-domain algorithm, whichever suits.
fn is_known(setting: Setting, algorithm: Option<&Entry<Algorithm>>) -> bool {
    match algorithm {
        Some(entry) => entry.item.knows(setting),
        None => algorithm::ALL
            .iter()
            .any(|entry| entry.item.family == Family::FullDomain && entry.item.knows(setting)),
    }
}

/// Fails if the job has a setting that its algorithm does not know. Nothing is said of the others of a job that names none.
pub(crate) fn check(job: &Job, algorithm: Option<&Entry<Algorithm>>) -> Result<()> {
    let strange = |setting: &Setting| is_set(&job.search, *setting) && !is_known(*setting, algorithm);
    let Some(setting) = Setting::ALL.into_iter().find(strange) else {
        return check_seed(job, algorithm);
    };
    let key = setting.key();
    let of = algorithm.map_or("this job".to_owned(), |entry| format!("`{}`", entry.name));
    let whom = match setting {
        Setting::Seed => "searches that draw lots",
        Setting::TimeLimit | Setting::MaxSteps => "searches that can be cut short",
        Setting::MondrianCuts | Setting::MondrianChoice | Setting::MondrianSides => "cuts of boxes",
        Setting::OneLabel => "the algorithm `incognito`",
        Setting::CellMethod => "the algorithm `cell-generalization`",
        Setting::SuppressionMethod => "the algorithm `cell-suppression`",
        Setting::CutMethod => "the algorithm `ordered-set`",
        Setting::LookAhead => "the algorithm `top-down`",
        _ => "full-domain algorithms",
    };
    let knowing = algorithm::ALL.iter().filter(|entry| entry.item.knows(setting));
    let (of_lattice, others): (Vec<&Entry<Algorithm>>, Vec<&Entry<Algorithm>>) =
        knowing.partition(|entry| entry.item.family == Family::FullDomain);
    let names: Vec<String> = others.iter().map(|entry| format!("\"{}\"", entry.name)).collect();
    let hint = match (names.is_empty(), of_lattice.is_empty()) {
        (true, _) => "leave it out".to_owned(),
        (false, true) => format!("leave it out, or set algorithm = {}", names.join(" or ")),
        (false, false) => format!("leave it out, or set algorithm = {}, or none", names.join(" or ")),
    };
    Err(job
        .mistake(&["search", key], format!("`{key}` is for {whom}; {of} has no use for it"))
        .with_hint(hint))
}

/// Fails if there is a seed for a search by cuts that draws no lots.
fn check_seed(job: &Job, algorithm: Option<&Entry<Algorithm>>) -> Result<()> {
    let has_method = algorithm.is_some_and(|entry| entry.item.knows(Setting::CutMethod));
    if !has_method || job.search.seed.is_none() || job.search.cut_method == Some(CutMethodJob::Genetic) {
        return Ok(());
    }
    Err(job
        .mistake(&["search", "seed"], "`seed` is for searches that draw lots; this one enumerates cuts")
        .with_hint("leave it out, or set cut_method = \"genetic\""))
}

/// The job with only those settings that an algorithm knows.
pub(crate) fn of_algorithm(job: &Job, algorithm: Option<&Entry<Algorithm>>) -> Job {
    let mut job = job.clone();
    for setting in Setting::ALL.into_iter().filter(|&setting| !is_known(setting, algorithm)) {
        forget(&mut job.search, setting);
    }
    if check_seed(&job, algorithm).is_err() {
        forget(&mut job.search, Setting::Seed);
    }
    job
}

/// When a search may stop although there is more to look at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LimitSettings {
    max_steps: Option<u64>,
    time: Option<Duration>,
}

impl LimitSettings {
    /// What the job says.
    pub(crate) fn new(job: &Job) -> Result<Self> {
        let max_steps = job.search.max_steps.map(|steps| match u64::try_from(steps) {
            Ok(steps) if steps > 0 => Ok(steps),
            _ => Err(job
                .mistake(&["search", "max_steps"], "`max_steps` is not at least 1")
                .with_hint("1 gives what a first, quick look finds; datafly and mondrian need no limit")),
        });
        let time = job.search.time_limit.as_deref().map(|text| duration(job, text));
        Ok(LimitSettings { max_steps: max_steps.transpose()?, time: time.transpose()? })
    }

    /// The limits of a search that begins now.
    pub(crate) fn starting_now(self) -> Limits {
        let deadline = self.time.and_then(|time| std::time::Instant::now().checked_add(time));
        Limits { max_steps: self.max_steps, deadline }
    }

    /// Is there any?
    pub(crate) fn is_some(self) -> bool {
        self.max_steps.is_some() || self.time.is_some()
    }

    /// Can the same search find something else another time?
    pub(crate) fn depends_on_time(self) -> bool {
        self.time.is_some()
    }
}

/// `"30 s"`, `"1.5 min"`, `"500ms"`, `"2 h"`.
fn duration(job: &Job, text: &str) -> Result<Duration> {
    let unreadable = || -> Error {
        job.mistake(&["search", "time_limit"], "`time_limit` is not a time above 0")
            .with_hint("write a number with ms, s, min or h: \"30 s\"; datafly and mondrian need no limit")
    };
    // The longest suffix first: `s` ends `ms` too.
    let units = [("ms", 0.001), ("min", 60.0), ("s", 1.0), ("h", 3600.0)];
    let (number, unit) = units
        .iter()
        .find_map(|&(suffix, unit)| text.trim().strip_suffix(suffix).map(|number| (number.trim(), unit)))
        .ok_or_else(unreadable)?;
    let seconds = number.parse::<f64>().map_err(|_| unreadable())? * unit;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| unreadable())?;
    if duration.is_zero() { Err(unreadable()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incog_core::registry::find;

    fn job(search: &str) -> Job {
        Job::parse(&format!("[input]\npath = \"x\"\n[policy]\nk = 2\n[search]\n{search}")).unwrap()
    }

    #[test]
    fn times_are_read_and_nothing_else() {
        let read = |text: &str| duration(&job(""), text);
        assert_eq!(read("30 s").unwrap(), Duration::from_secs(30));
        assert_eq!(read("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(read(" 1.5 min ").unwrap(), Duration::from_secs(90));
        assert_eq!(read("2h").unwrap(), Duration::from_secs(7200));
        for wrong in ["", "30", "0 s", "-1 s", "s", "NaN s", "inf s", "1e30 h", "3 days"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_setting_is_known_to_its_algorithms_only() {
        let mondrian = job("mondrian_cuts = \"relaxed\"\nseed = 3\nchecker = \"scan\"\nmax_steps = 5\n");
        let entry = |name: &str| find(algorithm::ALL, name);
        let left = |algorithm: Option<&str>| {
            let search = of_algorithm(&mondrian, algorithm.and_then(entry)).search;
            (
                search.mondrian_cuts.is_some(),
                search.seed.is_some(),
                search.checker.is_some(),
                search.max_steps.is_some(),
            )
        };
        assert_eq!(left(Some("mondrian")), (true, false, false, false));
        assert_eq!(left(Some("genetic")), (false, true, false, true));
        assert_eq!(left(Some("incognito")), (false, false, true, false));
        assert_eq!(left(None), (false, false, true, true));
        assert!(check(&mondrian, entry("mondrian")).is_err());
        assert!(check(&of_algorithm(&mondrian, entry("genetic")), entry("genetic")).is_ok());
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        assert!(LimitSettings::new(&job("max_steps = 0")).is_err());
        assert!(LimitSettings::new(&job("max_steps = -1")).is_err());
        assert!(LimitSettings::new(&job("time_limit = \"0 s\"")).is_err());
        assert!(LimitSettings::new(&job("max_steps = 1\ntime_limit = \"1 s\"")).is_ok());
    }
}
