//! Ctrl-C and its kin: a run ends without leaving anything behind.

use std::sync::Arc;

use incog::{Error, ErrorKind, Result, Watch};

/// The one watch of this run: a signal cancels it, so that nothing half-written is left behind. A second one ends the
/// process at once, should it hang in a read.
pub(crate) fn watch() -> Result<Arc<Watch>> {
    let watch = Arc::new(Watch::new());
    let cancelled = Arc::clone(&watch);
    let handler = move || {
        if cancelled.is_cancelled() {
            std::process::exit(2);
        }
        cancelled.cancel();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen for signals: {error}")))?;
    Ok(watch)
}
