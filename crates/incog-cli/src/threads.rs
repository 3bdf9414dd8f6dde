//! The threads that share the work, and the memory that they need.
//!
//! Where a process may have few threads or little memory (`ulimit`), not all of them can be had. Then there are fewer, or the
//! one that is there already does everything: results are the same. A process that is refused memory says so and ends, and leaves
//! nothing behind.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use incog::{Error, ErrorKind, Result};
use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::output::eprint_error;

/// As much as threads have by default.
const STACK: usize = 2 << 20;

/// A system has a limit to what a process may have of them, and ends the process beyond it.
const MOST: usize = 1024;

/// Bytes that must be free beside its stack before a thread begins. It takes some hundred of them, but the C library asks the system
/// for a megabyte at a time where its heap cannot grow, and ends the process where it does not get it.
const ROOM: usize = 4 << 20;

/// A thread that is there and at work, or `None` where there is no room for one. A thread that finds no room when it begins would take
/// the process with it; so there is only one at a time that begins.
pub(crate) fn spawn(stack: usize, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    if !incog_kernels::has_room(stack + ROOM) {
        return None;
    }
    let (say, said) = channel();
    let thread = std::thread::Builder::new().stack_size(stack).spawn(move || {
        take_what_every_thread_needs();
        let _ = say.send(());
        work();
    });
    said.recv().ok().and(thread.ok())
}

/// A value that is dropped when its thread ends.
struct DroppedAtTheEnd;

impl Drop for DroppedAtTheEnd {
    fn drop(&mut self) {}
}

thread_local! {
    static FIRST: DroppedAtTheEnd = const { DroppedAtTheEnd };
}

/// Takes the memory that the system libraries take for a thread on first use: a part of the heap of its own, and a list of what is dropped
/// when the thread ends. Where there is no room for that list the C library ends the process without asking anybody, so it is made first.
fn take_what_every_thread_needs() {
    drop(std::hint::black_box(Box::new(0_u64)));
    FIRST.with(|first| {
        std::hint::black_box(first);
    });
}

/// Memory for the last words.
static RESERVE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// From now on the process ends with a sentence when it is refused memory.
pub(crate) fn expect_memory_to_end() {
    take_what_every_thread_needs();
    if let Ok(mut reserve) = RESERVE.lock() {
        // Without it the words may fail, and no more.
        let _ = reserve.try_reserve_exact(1 << 18);
    }
    incog_kernels::when_out_of_memory(|| {
        if let Ok(mut reserve) = RESERVE.try_lock() {
            *reserve = Vec::new();
        }
        // Held until the process has ended.
        std::mem::forget(incog::unstable::cli::leave_nothing_at_once());
        eprint_error("error: the memory that the process may have is not enough");
        eprint_error("\nhint: allow it more (ulimit -v), or keep less of the table in memory: --memory");
        2
    });
}

/// Starts as many threads as there are processors, or as `RAYON_NUM_THREADS` says, and at most [`MOST`]; fewer where that fails.
pub(crate) fn start() -> Result<()> {
    let wanted = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    let wanted = wanted.filter(|&n: &usize| n > 0);
    let wanted =
        wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).min(MOST);
    // A pool that cannot be started cannot be started again with fewer threads. So there are threads first.
    let mut waiting: Vec<Sender<ThreadBuilder>> = Vec::new();
    for _ in 0..wanted {
        let (hand_over, handed_over) = channel::<ThreadBuilder>();
        let thread = spawn(STACK, move || {
            if let Ok(thread) = handed_over.recv() {
                thread.run();
            }
        });
        if thread.is_none() {
            break;
        }
        waiting.push(hand_over);
    }
    let built = if waiting.is_empty() {
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()
    } else {
        let pool = ThreadPoolBuilder::new().num_threads(waiting.len());
        let waiting = Mutex::new(waiting);
        pool.spawn_handler(|thread| {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.pop());
            let next = next.ok_or_else(|| std::io::Error::other("there are no more threads"))?;
            next.send(thread).map_err(|_| std::io::Error::other("a thread has ended"))
        })
        .build_global()
    };
    built.map_err(|error| {
        Error::new(ErrorKind::Limit, format!("cannot start a thread: {error}"))
            .with_hint("allow the process more memory (ulimit -v) or more threads (ulimit -u)")
    })
}
