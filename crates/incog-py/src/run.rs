//! Who waits for the work, and who may stop it?
//!
//! The work runs on other threads, with the interpreter free for everybody else. Whoever asked waits, wakes as soon as the work is done,
//! looks for signals every [`TICK`], and calls back with how far it is. Ctrl-C, or a callback that raises, cancels the work; if it has
//! not ended after [`PATIENCE`], the exception is raised all the same, and the work, whose result nobody can get any more, ends by
//! itself. [`join`] waits for such work when the interpreter ends.
//!
//! A process that was forked has none of the threads of its parent, so it gets a pool of its own: the pool is known by its process.

use std::panic::AssertUnwindSafe;
use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use incog::{Error, ErrorKind, Progress, Result, Stage};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::raised;

/// How often signals are looked for and callbacks called.
const TICK: Duration = Duration::from_millis(25);

/// How long cancelled work may take to end before nobody waits for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// The threads that share the work of this process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Work that was cancelled and that nobody waits for. Nothing is ever sent; what would send is gone when the work has ended.
static LEFT: Mutex<Vec<Receiver<()>>> = Mutex::new(Vec::new());

/// The pool of this process: as many threads as there are processors, or as `RAYON_NUM_THREADS` says.
fn pool() -> Result<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((owner, pool)) if *owner == process::id() => return Ok(Arc::clone(pool)),
        // Threads of another process are not here to be ended.
        Some(_) => std::mem::forget(pool.take()),
        None => {}
    }
    let built =
        ThreadPoolBuilder::new().thread_name(|at| format!("incog-{at}")).build().map_err(|error| {
            Error::new(ErrorKind::Limit, format!("cannot start a thread: {error}"))
                .with_hint("allow the process more memory or more threads (ulimit)")
        })?;
    Ok(Arc::clone(&pool.insert((process::id(), Arc::new(built))).1))
}

/// A child that was forked forgets the threads of its parent. Registered with `os.register_at_fork`.
#[pyfunction]
pub(crate) fn after_fork() {
    // Whoever held it in the parent is not here.
    if let Ok(mut pool) = POOL.try_lock() {
        std::mem::forget(pool.take());
    }
    if let Ok(mut left) = LEFT.try_lock() {
        std::mem::forget(std::mem::take(&mut *left));
    }
}

/// Waits for work that was cancelled. Registered with `atexit`.
#[pyfunction]
pub(crate) fn join(py: Python<'_>) {
    let left = std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner));
    py.detach(|| left.into_iter().for_each(|ended| _ = ended.recv()));
}

/// Does the work and waits for it. `callback(stage, rows, judged, open)` is called every [`TICK`] meanwhile.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<Progress>) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = pool().map_err(|error| raised(py, &error))?;
    let begin = |task: Task| {
        pool.spawn(task);
        Ok(())
    };
    begun(py, callback, begin, work)
}

/// The same for work that has to wait for a lock first. It waits on a thread of its own and enters the pool with the lock: a thread of
/// the pool that waits for others does other work meanwhile, so one that holds a lock would soon wait for itself.
pub(crate) fn run_outside<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<Progress>, &ThreadPool) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = pool().map_err(|error| raised(py, &error))?;
    let begin =
        |task: Task| std::thread::Builder::new().name("incog".to_owned()).spawn(task).map(|_thread| ());
    begun(py, callback, begin, move |progress| work(progress, &pool))
}

/// What a thread is to do.
type Task = Box<dyn FnOnce() + Send>;

fn begun<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    begin: impl FnOnce(Task) -> std::io::Result<()>,
    work: impl FnOnce(&Arc<Progress>) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let progress = Arc::new(Progress::new());
    let (say, said) = channel();
    let (alive, ended) = channel();
    let shared = Arc::clone(&progress);
    let task = move || {
        let work = AssertUnwindSafe(|| work(&shared));
        let done = std::panic::catch_unwind(work).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Internal, "incog has made a mistake of its own")
                .with_hint("please report it, with the call and without the data"))
        });
        // Nobody may be waiting any more.
        let _ = say.send(done);
        drop(alive);
    };
    begin(Box::new(task)).map_err(|error| {
        raised(py, &Error::new(ErrorKind::Limit, format!("cannot start a thread: {error}")))
    })?;
    let said = Mutex::new(said);
    loop {
        match wait(py, &said, TICK) {
            Ok(done) => return done.map_err(|error| raised(py, &error)),
            Err(RecvTimeoutError::Disconnected) => {
                let broken = Error::new(ErrorKind::Internal, "the work has ended without an answer");
                return Err(raised(py, &broken));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let told = py.check_signals().and_then(|()| callback.map_or(Ok(()), |call| tell(call, &progress)));
        if let Err(stopped) = told {
            progress.cancel();
            // Whatever it has come to, nobody asks any more.
            drop(wait(py, &said, PATIENCE));
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.retain(|ended| ended.try_recv() == Err(TryRecvError::Empty));
            left.push(ended);
            return Err(stopped);
        }
    }
}

fn wait<T: Send>(
    py: Python<'_>,
    said: &Mutex<Receiver<T>>,
    patience: Duration,
) -> std::result::Result<T, RecvTimeoutError> {
    py.detach(|| said.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience))
}

fn tell(callback: &Bound<'_, PyAny>, progress: &Progress) -> PyResult<()> {
    let Some(stage) = progress.stage() else {
        return Ok(());
    };
    let stage = match stage {
        Stage::Reading => "reading",
        Stage::Searching => "searching",
        Stage::Clustering => "clustering",
        Stage::Merging => "merging",
        Stage::Ranking => "ranking",
        Stage::Verifying => "verifying",
        Stage::Writing => "writing",
        _ => "working",
    };
    callback.call1((stage, progress.rows(), progress.nodes_judged(), progress.nodes_open()))?;
    Ok(())
}
