//! What stands beside a run: a signal ends it without leaving anything behind, and a terminal is told how far it is.
//!
//! A signal ends the process at once, whatever it is at, with the exit code that a shell gives to whom the signal ended: 130 for
//! Ctrl-C, 143 for SIGTERM, 129 for SIGHUP. What was being written is removed first.

use std::ops::Deref;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::output::{eprint_error, is_quiet};
use crate::threads;
use incog::{Progress, Result, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs that are over sooner show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// What the threads here need for their own calls.
const STACK: usize = 256 << 10;

/// The progress line, once there is one.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// What is running, where several things run one after the other.
static RUNNING: Mutex<String> = Mutex::new(String::new());

/// From now on, the progress line begins with this.
pub(crate) fn name_what_runs(name: &str) {
    if let Ok(mut running) = RUNNING.lock() {
        name.clone_into(&mut running);
    }
}

/// Does something while no progress line is in the way.
pub(crate) fn beside_the_line<T>(act: impl FnOnce() -> T) -> T {
    match LINE.get() {
        Some(line) => line.suspend(act),
        None => act(),
    }
}

/// The progress of a run, with a line on terminals that shows it.
pub(crate) struct ShownProgress {
    progress: Arc<Progress>,
    /// Dropped, it ends the thread.
    ends: Option<Sender<()>>,
    line: Option<JoinHandle<()>>,
}

impl ShownProgress {
    /// The progress, for whoever shares it.
    pub(crate) fn shared(&self) -> &Arc<Progress> {
        &self.progress
    }
}

/// A file that may grow no further (`ulimit -f`) is then an error like a full disk, not a signal that ends the process
/// before it has cleaned up. To be called before there are threads: they inherit it.
pub(crate) fn outlive_file_limits() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // Blocked, not handled: handlers need unsafe code. If it fails, the process is as it was.
        let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    }
}

/// Starts all that a run needs beside itself: whoever waits for signals, the threads that share its work, and the progress line.
pub(crate) fn show_progress() -> Result<ShownProgress> {
    // First of all: threads inherit which signals they leave to another.
    listen();
    threads::start()?;
    let progress = Arc::new(Progress::new());
    let (ends, ended) = channel();
    // Draws on terminals only.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if bar.is_hidden() || is_quiet() {
        return Ok(ShownProgress { progress, ends: None, line: None });
    }
    let polled = Arc::clone(&progress);
    let line = threads::spawn(STACK, move || {
        let start = Instant::now();
        bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is right"));
        let bar = LINE.get_or_init(|| bar);
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if start.elapsed() < PATIENCE {
                continue;
            }
            if let Some(message) = message(&polled) {
                let running = RUNNING.lock().map(|running| running.clone()).unwrap_or_default();
                bar.set_message(if running.is_empty() { message } else { format!("{running}: {message}") });
                bar.tick();
            }
        }
        bar.finish_and_clear();
    });
    // A run without a progress line is a run all the same.
    Ok(ShownProgress { progress, ends: Some(ends), line })
}

/// Waits for signals that end a run. If nobody can, they end the process as they do by default: what it was writing is left
/// behind, readable by its owner only, and the next run removes it.
#[cfg(unix)]
fn listen() {
    use nix::sys::signal::SigSet;

    let mut signals = SigSet::empty();
    ending().for_each(|signal| signals.add(signal));
    if signals.thread_block().is_err() {
        return;
    }
    let waits = move || {
        let Ok(signal) = signals.wait() else {
            return;
        };
        // Another one ends the process, should this one be held up.
        let _ = signals.thread_unblock();
        end(128 + signal as i32);
    };
    if threads::spawn(STACK, waits).is_none() {
        let _ = signals.thread_unblock();
    }
}

/// The signals that end a run: not those that whoever started it wants to be ignored (`nohup`).
#[cfg(unix)]
fn ending() -> impl Iterator<Item = nix::sys::signal::Signal> {
    use nix::sys::signal::Signal;

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = move |signal: Signal| ignored >> (signal as u64 - 1) & 1 == 1;
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().filter(move |&signal| !is_ignored(signal))
}

#[cfg(not(unix))]
fn listen() {
    // If it fails, the process ends as it does by default.
    let _ = ctrlc::set_handler(|| end(130));
}

/// Ends the process.
fn end(code: i32) {
    let _left = incog::unstable::cli::leave_nothing();
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
    eprint_error("error: cancelled");
    std::process::exit(code);
}

impl ShownProgress {
    /// The run is over: the line is cleared.
    pub(crate) fn done(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.ends = None;
        if let Some(line) = self.line.take() {
            // A progress line that failed is no reason to fail.
            let _ = line.join();
        }
    }
}

impl Drop for ShownProgress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Deref for ShownProgress {
    type Target = Progress;

    fn deref(&self) -> &Progress {
        &self.progress
    }
}

/// Where the run is, for people.
fn message(progress: &Progress) -> Option<String> {
    let nodes =
        || format!("{} nodes judged, at most {} left", progress.nodes_judged(), progress.nodes_open());
    Some(match progress.stage()? {
        Stage::Reading => format!("reading: {} rows", progress.rows()),
        Stage::Searching => format!("searching: {}", nodes()),
        Stage::Clustering => {
            // One counter goes up while the other goes down.
            format!("clustering: {} of {} persons", progress.rows(), progress.rows() + progress.nodes_open())
        }
        Stage::Merging => format!("merging: at most {} clusters left", progress.nodes_open()),
        Stage::Ranking => format!("ranking: at most {} nodes left", progress.nodes_open()),
        Stage::Verifying => "verifying".to_owned(),
        Stage::Writing => format!("writing: {} rows", progress.rows()),
        Stage::Describing => format!("describing: {} columns", progress.rows()),
        Stage::Combining => {
            format!("looking for what singles people out: {} sets of columns", progress.rows())
        }
        // A stage of a later library.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_speaks_of_rows_and_nodes() {
        let progress = Progress::new();
        assert_eq!(message(&progress), None);
        progress.enter(Stage::Reading);
        progress.count_rows(7);
        assert_eq!(message(&progress).unwrap(), "reading: 7 rows");
        progress.enter(Stage::Searching);
        assert_eq!(message(&progress).unwrap(), "searching: 0 nodes judged, at most 0 left");
        progress.enter(Stage::Clustering);
        progress.count_rows(3);
        assert_eq!(message(&progress).unwrap(), "clustering: 3 of 3 persons");
    }
}
