//! How a run is watched: a signal ends it without leaving anything behind, and a terminal is told how far it is.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::output::complain;
use incog::{Error, ErrorKind, Result, Stage, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs that are over sooner show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// The one watch of a run, with a progress line on terminals.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    /// Dropped, it ends the thread.
    ends: Option<Sender<()>>,
    progress: Option<JoinHandle<()>>,
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

/// The one watch of this run: a signal cancels it, so that nothing half-written is left behind. A second one ends the
/// process at once, should it hang in a read.
pub(crate) fn watch() -> Result<Watched> {
    let watch = Arc::new(Watch::new());
    let cancelled = Arc::clone(&watch);
    start(watch, move || {
        if cancelled.is_cancelled() {
            std::process::exit(2);
        }
        cancelled.cancel();
    })
}

/// The same for a run that writes nothing: a signal ends it at once, whatever it is at.
pub(crate) fn watch_reading() -> Result<Watched> {
    start(Arc::new(Watch::new()), || {
        complain("error: cancelled");
        std::process::exit(2);
    })
}

fn start(watch: Arc<Watch>, handler: impl FnMut() + 'static + Send) -> Result<Watched> {
    ctrlc::set_handler(handler)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen for signals: {error}")))?;
    let (ends, ended) = channel();
    let watched = Arc::clone(&watch);
    let progress = std::thread::spawn(move || {
        let start = Instant::now();
        // Draws on terminals only.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is right"));
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if start.elapsed() < PATIENCE {
                continue;
            }
            if let Some(message) = message(&watched) {
                bar.set_message(message);
                bar.tick();
            }
        }
        bar.finish_and_clear();
    });
    Ok(Watched { watch, ends: Some(ends), progress: Some(progress) })
}

impl Watched {
    /// The run is over: the line is cleared.
    pub(crate) fn done(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.ends = None;
        if let Some(progress) = self.progress.take() {
            // A progress line that failed is no reason to fail.
            let _ = progress.join();
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end();
    }
}

impl Deref for Watched {
    type Target = Watch;

    fn deref(&self) -> &Watch {
        &self.watch
    }
}

/// Where the run is, for people.
fn message(watch: &Watch) -> Option<String> {
    let nodes = || format!("{} nodes judged, at most {} left", watch.nodes_judged(), watch.nodes_open());
    Some(match watch.stage()? {
        Stage::Reading => format!("reading: {} rows", watch.rows()),
        Stage::Searching => format!("searching: {}", nodes()),
        Stage::Clustering => {
            // One counter goes up while the other goes down.
            format!("clustering: {} of {} persons", watch.rows(), watch.rows() + watch.nodes_open())
        }
        Stage::Merging => format!("merging: at most {} clusters left", watch.nodes_open()),
        Stage::Ranking => format!("ranking: at most {} nodes left", watch.nodes_open()),
        Stage::Verifying => "verifying".to_owned(),
        Stage::Writing => format!("writing: {} rows", watch.rows()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_speaks_of_rows_and_nodes() {
        let watch = Watch::new();
        assert_eq!(message(&watch), None);
        watch.enter(Stage::Reading);
        watch.count_rows(7);
        assert_eq!(message(&watch).unwrap(), "reading: 7 rows");
        watch.enter(Stage::Searching);
        assert_eq!(message(&watch).unwrap(), "searching: 0 nodes judged, at most 0 left");
        watch.enter(Stage::Clustering);
        watch.count_rows(3);
        assert_eq!(message(&watch).unwrap(), "clustering: 3 of 3 persons");
    }
}
