//! Which settings of `[search]` belong to which algorithm?
//!
//! A setting that would have no effect is refused: whoever wrote it expects one. Where several algorithms are compared,
//! each has its own and is spared the others'.

use std::time::Duration;

use incog_core::algorithm::{self, Limits};
use incog_core::registry::find;
use incog_core::{Error, Result};

use crate::job::{Job, SearchJob};

/// A setting that only some algorithms know.
struct Setting {
    key: &'static str,
    is_set: fn(&SearchJob) -> bool,
    forget: fn(&mut SearchJob),
    whose: Whose,
}

/// Who knows a setting.
#[derive(Clone, Copy)]
enum Whose {
    /// Traversals of the lattice.
    FullDomain,
    /// Algorithms of these names; and what they are called together.
    Named(&'static [&'static str], &'static str),
    /// The same, and the search for the best full-domain release where no algorithm is named.
    NamedOrNone(&'static [&'static str], &'static str),
}

const LIMITED: Whose = Whose::NamedOrNone(&["genetic", "ordered-set"], "searches that can be cut short");
const MONDRIAN: Whose = Whose::Named(&["mondrian"], "cuts of boxes");
const DRAWING: Whose = Whose::Named(&["top-down", "genetic"], "searches that draw lots");

/// The setting under a key of `[search]`.
macro_rules! setting {
    ($key:ident, $whose:expr) => {
        Setting {
            key: stringify!($key),
            is_set: |search| search.$key.is_some(),
            forget: |search| search.$key = None,
            whose: $whose,
        }
    };
}

const SETTINGS: [Setting; 13] = [
    setting!(checker, Whose::FullDomain),
    setting!(marking, Whose::FullDomain),
    setting!(memory, Whose::FullDomain),
    setting!(cube_levels, Whose::FullDomain),
    setting!(bitmap_sets, Whose::FullDomain),
    setting!(bitmap_pruning, Whose::FullDomain),
    setting!(decide, Whose::FullDomain),
    setting!(seed, DRAWING),
    setting!(time_limit, LIMITED),
    setting!(max_steps, LIMITED),
    setting!(mondrian_cuts, MONDRIAN),
    setting!(mondrian_choice, MONDRIAN),
    setting!(mondrian_sides, MONDRIAN),
];

impl Whose {
    /// Does the algorithm know such settings? Without a name it is a traversal.
    fn includes(self, algorithm: Option<&str>) -> bool {
        match (self, algorithm) {
            (Whose::FullDomain, None) => true,
            (Whose::FullDomain, Some(name)) => find(algorithm::ALL, name).is_some(),
            (Whose::NamedOrNone(..), None) => true,
            (Whose::Named(names, _) | Whose::NamedOrNone(names, _), name) => {
                name.is_some_and(|name| names.contains(&name))
            }
        }
    }
}

/// Fails if the job has a setting that its algorithm does not know. Nothing is said of the others of a job that names none.
pub(crate) fn check(job: &Job, algorithm: Option<&str>) -> Result<()> {
    let strange = |setting: &&Setting| (setting.is_set)(&job.search) && !setting.whose.includes(algorithm);
    let Some(Setting { key, whose, .. }) = SETTINGS.iter().find(strange) else {
        return Ok(());
    };
    let of = algorithm.map_or("this job".to_owned(), |name| format!("`{name}`"));
    let (whom, hint) = match whose {
        Whose::FullDomain => ("full-domain algorithms", "leave it out".to_owned()),
        Whose::Named(names, whom) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            (*whom, format!("leave it out, or set algorithm = {}", names.join(" or ")))
        }
        Whose::NamedOrNone(names, whom) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            (*whom, format!("leave it out, or set algorithm = {}, or none", names.join(" or ")))
        }
    };
    Err(job
        .mistake(&["search", key], format!("`{key}` is for {whom}; {of} has no use for it"))
        .with_hint(hint))
}

/// The job with only those settings that an algorithm knows.
pub(crate) fn of_algorithm(job: &Job, algorithm: Option<&str>) -> Job {
    let mut job = job.clone();
    for setting in SETTINGS.iter().filter(|setting| !setting.whose.includes(algorithm)) {
        (setting.forget)(&mut job.search);
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
        let left = |algorithm| {
            let search = of_algorithm(&mondrian, algorithm).search;
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
        assert!(check(&mondrian, Some("mondrian")).is_err());
        assert!(check(&of_algorithm(&mondrian, Some("genetic")), Some("genetic")).is_ok());
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        assert!(LimitSettings::new(&job("max_steps = 0")).is_err());
        assert!(LimitSettings::new(&job("max_steps = -1")).is_err());
        assert!(LimitSettings::new(&job("time_limit = \"0 s\"")).is_err());
        assert!(LimitSettings::new(&job("max_steps = 1\ntime_limit = \"1 s\"")).is_ok());
    }
}
