//! Flags that take the place of what the job file says.

use incog::Job;

/// Settings that take the place of the job's.
#[derive(Debug, clap::Args)]
pub(crate) struct Overrides {
    /// exhaustive, bottom-up, samarati or incognito [default: incognito]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
    /// scan, sort, roll-up, super-roots or cube [default: super-roots]
    #[arg(long, value_name = "NAME")]
    checker: Option<String>,
    /// direct or transitive [default: transitive]
    #[arg(long, value_name = "NAME")]
    marking: Option<String>,
    /// How the best one is picked: loss, geometric-loss, height, weighted-height, precision, discernibility or
    /// average-group-size [default: loss]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Size of the smallest group, instead of the job's
    #[arg(short, long, allow_negative_numbers = true)]
    k: Option<i64>,
    /// How many families to search at a time [default: 1]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Overrides {
    pub(crate) fn apply(self, job: &mut Job) {
        let settings = &mut job.search;
        for (key, flag, setting) in [
            ("algorithm", self.algorithm, &mut settings.algorithm),
            ("checker", self.checker, &mut settings.checker),
            ("marking", self.marking, &mut settings.marking),
            ("metric", self.metric, &mut settings.metric),
        ] {
            if flag.is_some() {
                *setting = flag;
                job.lines.forget(&["search", key]);
            }
        }
        if self.threads.is_some() {
            settings.threads = self.threads;
            job.lines.forget(&["search", "threads"]);
        }
        if let Some(k) = self.k {
            job.policy.k = k;
            job.lines.forget(&["policy", "k"]);
        }
    }
}
