//! The threads that share the work.
//!
//! Where a process may have few threads or little memory (`ulimit`), not all of them can be had. Then there are fewer, or the
//! one that is there already does everything: results are the same.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use incog::{Error, ErrorKind, Result};
use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Starts as many threads as there are processors, or as `RAYON_NUM_THREADS` says; fewer where that fails.
pub(crate) fn start() -> Result<()> {
    let wanted = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    let wanted = wanted.filter(|&n: &usize| n > 0);
    let wanted = wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    // A pool that cannot be started cannot be started again with fewer threads. So there are threads first.
    let mut waiting: Vec<Sender<ThreadBuilder>> = Vec::new();
    for _ in 0..wanted {
        let (hand_over, handed_over) = channel::<ThreadBuilder>();
        let thread = std::thread::Builder::new().spawn(move || {
            if let Ok(thread) = handed_over.recv() {
                thread.run();
            }
        });
        if thread.is_err() {
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
