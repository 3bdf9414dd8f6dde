//! Does what a job says beside its columns make sense, as far as that is known without the data?

use incog_core::Result;
use incog_core::algorithm::{Algorithm, MARKINGS, Marking, OneLabel};
use incog_core::judge;
use incog_core::metric::{self, MAX_WEIGHT, MIN_WEIGHT, Metric};
use incog_core::privacy::{Budget, KAnonymity};
use incog_core::registry::{Entry, find, nearest};

use crate::job::{self, CountOrText, Job, Mistakes, RoleJob};
use crate::plan::columns::{WithoutQuasi, check_roles};
use crate::plan::decide::{DECIDE, Decide};
use crate::plan::judges::JudgeChoice;
use crate::plan::orders;
use crate::plan::requirements::{self, Requirement};
use crate::plan::route::AlgorithmChoice;
use crate::source::spill::Memory;

/// More threads than this are a typing error.
const MAX_THREADS: usize = 1024;

/// What a job says beside its columns, checked as far as that is possible without the data.
pub(super) struct Settings<'a> {
    pub(super) algorithm: AlgorithmChoice,
    pub(super) judge: JudgeChoice,
    pub(super) marking: &'static Entry<Marking>,
    pub(super) one_label: OneLabel,
    pub(super) metric: &'static Entry<&'static dyn Metric>,
    pub(super) decide: &'static Entry<Decide>,
    pub(super) threads: usize,
    pub(super) k_anonymity: KAnonymity,
    pub(super) combinations: Option<usize>,
    pub(super) budget: Budget,
    pub(super) requirements: Vec<Requirement<'a>>,
    pub(super) memory: Option<Memory>,
}

impl<'a> Settings<'a> {
    /// All of them, or all mistakes.
    pub(super) fn of(
        job: &'a Job,
        own: Option<&'static Entry<Algorithm>>,
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let algorithm = mistakes.note(AlgorithmChoice::new(job, own));
        let judge = match &job.search.checker {
            None => mistakes.note(JudgeChoice::new(job, None)),
            Some(name) => mistakes.note(
                named(job, judge::ALL, "checker", &job.search.checker, name)
                    .and_then(|named| JudgeChoice::new(job, Some(named))),
            ),
        };
        let marking = mistakes.note(named(job, MARKINGS, "marking", &job.search.marking, "transitive"));
        let metric = mistakes.note(named(job, metric::ALL, "metric", &job.search.metric, "loss"));
        let decide = mistakes.note(named(job, DECIDE, "decide", &job.search.decide, "all"));
        let threads = mistakes.note(threads(job));
        let k_anonymity = mistakes.note(k_anonymity(job));
        let combinations = mistakes.note(combinations(job));
        let budget = mistakes.note(budget(job));
        if let Some(metric) = metric {
            mistakes.note(check_weights(job, metric));
        }
        mistakes.note(check_roles(job, WithoutQuasi::Refused));
        orders::check(job, mistakes);
        let requirements = requirements::check(job, mistakes);
        let memory = mistakes.note(Memory::of(job)).flatten();
        Some(Settings {
            algorithm: algorithm?,
            judge: judge?,
            marking: marking?,
            one_label: match job.search.one_label {
                None | Some(job::OneLabel::TakeOver) => OneLabel::TakeOver,
                Some(job::OneLabel::Group) => OneLabel::Group,
            },
            metric: metric?,
            decide: decide?,
            threads: threads?,
            k_anonymity: k_anonymity?,
            combinations: combinations?,
            budget: budget?,
            requirements,
            memory,
        })
    }
}

/// The entry that a setting names, or the nearest name as advice.
fn named<T>(
    job: &Job,
    entries: &'static [Entry<T>],
    key: &str,
    setting: &Option<String>,
    default: &str,
) -> Result<&'static Entry<T>> {
    let name = setting.as_deref().unwrap_or(default);
    find(entries, name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        let error = match nearest(names.iter().copied(), name) {
            Some(near) => format!("unknown {key} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {key} `{name}`"),
        };
        job.mistake(&["search", key], error).with_hint(format!("there are: {}", names.join(", ")))
    })
}

fn threads(job: &Job) -> Result<usize> {
    match job.search.threads {
        Some(threads) if !(1..=MAX_THREADS).contains(&threads) => {
            let mistake = format!("threads is not from 1 to {MAX_THREADS}");
            Err(job.mistake(&["search", "threads"], mistake).with_hint("1 is the default"))
        }
        threads => Ok(threads.unwrap_or(1)),
    }
}

fn k_anonymity(job: &Job) -> Result<KAnonymity> {
    let key = ["policy", "k"];
    let k = u64::try_from(job.policy.k)
        .map_err(|_| job.mistake(&key, "k is negative").with_hint("common choices are 3, 5, 11 and 20"))?;
    let model = if job.policy.unit.is_some() { KAnonymity::of_persons(k) } else { KAnonymity::new(k) };
    model.map_err(|error| job.at(&key, &error))
}

/// How many quasi-identifiers are looked at together, if not all.
fn combinations(job: &Job) -> Result<Option<usize>> {
    let key = ["policy", "combinations"];
    let Some(most) = job.policy.combinations else {
        return Ok(None);
    };
    let n_quasi = job.quasi_identifiers().len();
    let about_k = |what: &str, hint: &str| {
        Err(job.mistake(&key, format!("`combinations` {what}")).with_hint(hint.to_owned()))
    };
    if most < 1 {
        return about_k(
            "is not at least 1",
            "give how many quasi-identifiers are looked at together, such as 3",
        );
    }
    if most as u64 > n_quasi as u64 {
        let what = format!("is {most}, and there are {n_quasi} quasi-identifiers");
        return about_k(&what, "leave it out to ask for k-anonymity of all of them together");
    }
    if !job.policy.require.is_empty() {
        return about_k("is about k alone, and more is required", "leave out `require`, or `combinations`");
    }
    if job.policy.unit.is_some() {
        return about_k("counts rows, and `unit` asks for persons", "leave out `unit`, or `combinations`");
    }
    Ok(Some(most as usize))
}

/// How many rows may be left out.
pub(crate) fn budget(job: &Job) -> Result<Budget> {
    let key = ["policy", "suppression"];
    match &job.policy.suppression {
        None => Ok(Budget::NONE),
        Some(CountOrText::Text(text)) => Budget::parse(text).map_err(|error| job.at(&key, &error)),
        Some(CountOrText::Count(rows)) => u64::try_from(*rows).map(Budget::Rows).map_err(|_| {
            job.mistake(&key, "suppression is negative")
                .with_hint("write a number of rows (5) or a percentage (\"1%\")")
        }),
    }
}

fn check_weights(job: &Job, metric: &Entry<&'static dyn Metric>) -> Result<()> {
    let weights = &job.search.weights;
    for (name, &weight) in weights {
        let key = ["search", "weights", name.as_str()];
        if job.columns.get(name).is_none_or(|column| column.role != RoleJob::QuasiIdentifier) {
            return Err(job.mistake(&key, format!("`weights` names `{name}`, which is no quasi-identifier")));
        }
        if !metric::is_weight(weight) {
            let mistake = format!("the weight of `{name}` is negative, too small, too large or not a number");
            return Err(job
                .mistake(&key, mistake)
                .with_hint(format!("weights are 0, or from {MIN_WEIGHT:e} to {MAX_WEIGHT:e}")));
        }
    }
    let key = ["search", "weights"];
    let n_quasi_identifiers =
        job.columns.values().filter(|column| column.role == RoleJob::QuasiIdentifier).count();
    if weights.len() == n_quasi_identifiers
        && weights.values().all(|&weight| weight == 0.0)
        && !weights.is_empty()
    {
        return Err(job
            .mistake(&key, "every weight is 0")
            .with_hint("leave `weights` out to weigh all alike"));
    }
    if !weights.is_empty() && !metric.item.uses_weights() {
        let weighted: Vec<&str> =
            metric::ALL.iter().filter(|entry| entry.item.uses_weights()).map(|entry| entry.name).collect();
        return Err(job
            .mistake(&key, format!("the metric `{}` knows no weights", metric.name))
            .with_hint(format!("weights count in: {}", weighted.join(", "))));
    }
    Ok(())
}
