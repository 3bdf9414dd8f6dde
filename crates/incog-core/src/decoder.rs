//! What if a decoder that is not ours trips over a stranger's file?
//!
//! Decoders of large formats panic on some damage. That is one more way to say that the file is damaged, and nothing is printed of it: what a
//! decoder says may have come from the file.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::Once;

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// What a decoder makes of something, or nothing if it panics. Of what is done on other threads meanwhile, that is to be said there. What was
/// being changed is not to be used again.
pub fn undisturbed<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_DECODING.get() {
                others(panic);
            }
        }));
    });
    let before = IS_DECODING.replace(true);
    let decoded = std::panic::catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(before);
    decoded.ok()
}
