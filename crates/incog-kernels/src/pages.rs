//! Memory in large pages.
//!
//! A program that reads a table, packs it and writes it soon after spends a good part of its time in the operating system,
//! which hands out memory 4 KiB at a time. Linux can hand out 2 MiB at a time to whoever asks for it. [`LargePages`] is the
//! system's allocator, which asks for that where an allocation is large; a program chooses it with `#[global_allocator]`.
//!
//! It is advice and changes nothing but the time: what cannot be had in large pages comes in small ones, on other systems all
//! of it. Cost: one call of the system for each large allocation; at most a large page more memory than was asked for.
//!
//! A program that may have no more memory is aborted by default, in the middle of what it is at. With [`when_out_of_memory`] it says
//! what is done instead.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes. Allocations of at least this size are worth asking for.
const LARGE: usize = 4 << 20;

/// The system's allocator, with large pages for large allocations.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

// SAFETY: every call is the system allocator's own, with the same arguments and the same answer; what it answered with is
// not touched in between.
#[expect(unsafe_code, reason = "an allocator's contract is one with its caller")]
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(memory, layout, new_size) }, new_size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// The same memory, for which large pages are asked if it is large.
#[inline]
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        is_refused(size);
    } else if size >= LARGE {
        ask(memory, size);
    }
    memory
}

/// Who asks for more may have read the number in a damaged file, and is told that it cannot be had.
const ANYTHING: usize = 1 << 30;

static INSTEAD: OnceLock<fn() -> i32> = OnceLock::new();
static IS_OUT: AtomicBool = AtomicBool::new(false);

/// What is done, once, when [`LargePages`] is refused memory: to clean up and to say so. The process ends with the code that it returns, at
/// once: what else is done at the end of a process might need memory. If it is refused memory itself, the process is aborted.
pub fn when_out_of_memory(instead: fn() -> i32) {
    // The first one stays.
    let _ = INSTEAD.set(instead);
}

/// Could so much memory be had now? Nothing is done if not.
#[expect(unsafe_code, reason = "allocators are called like this")]
pub fn has_room(n_bytes: usize) -> bool {
    let Ok(layout) = Layout::from_size_align(n_bytes.max(1), 1) else {
        return false;
    };
    // SAFETY: the layout is not empty; what is allocated with it is given back with it, and not touched in between.
    unsafe {
        // Hidden from who might find that it is not needed.
        let memory = std::hint::black_box(System.alloc(layout));
        if !memory.is_null() {
            System.dealloc(memory, layout);
        }
        !memory.is_null()
    }
}

#[cold]
fn is_refused(size: usize) {
    thread_local! {
        static IS_MINE: Cell<bool> = const { Cell::new(false) };
    }
    let Some(instead) = INSTEAD.get().filter(|_| size < ANYTHING) else {
        return;
    };
    if !IS_OUT.swap(true, Ordering::AcqRel) {
        IS_MINE.set(true);
        end_at_once(instead());
    } else if !IS_MINE.get() {
        // Another thread is about to end the process; this one must not abort it.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a call of the system")]
fn end_at_once(code: i32) -> ! {
    // SAFETY: it takes any number, and does not come back.
    unsafe extern "C" {
        safe fn _exit(code: std::ffi::c_int) -> !;
    }
    _exit(code)
}

#[cfg(not(unix))]
fn end_at_once(code: i32) -> ! {
    std::process::exit(code)
}

// Miri knows no such call.
#[cfg(all(target_os = "linux", not(miri)))]
#[cold]
#[expect(unsafe_code, reason = "a call of the system")]
fn ask(memory: *mut u8, size: usize) {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    /// Where pages are larger, the call fails, and nothing is lost.
    const PAGE: usize = 1 << 12;

    // From the page that the allocation starts on, which is mapped, as the allocation is.
    let before = memory.addr() % PAGE;
    let start = memory.wrapping_sub(before);
    // SAFETY: this advice changes the content of no page, whoever it belongs to; the whole range is mapped.
    unsafe { madvise(start.cast(), before + size, MADV_HUGEPAGE) };
}

#[cfg(any(not(target_os = "linux"), miri))]
fn ask(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where it has no room, and refuses nobody")]
    fn there_is_room_for_little_and_not_for_everything() {
        assert!(has_room(0) && has_room(1 << 16));
        assert!(!has_room(usize::MAX) && !has_room(isize::MAX as usize));
    }

    #[test]
    #[expect(unsafe_code, reason = "allocators are called like this")]
    fn memory_of_any_size_keeps_its_content_and_fresh_memory_can_be_had_zeroed() {
        for size in [1, 100, LARGE - 1, LARGE, LARGE + 1, 5 * LARGE + 12_345] {
            // Miri, which is slow, looks at some places, the first and one of the last among them.
            let places = || (0..size).step_by(if cfg!(miri) { size.div_ceil(9) } else { 1 });
            let layout = Layout::from_size_align(size, 8).unwrap();
            let larger = Layout::from_size_align(3 * size, 8).unwrap();
            // SAFETY: layouts are those of the allocation, and nothing is read that was not written or zeroed.
            unsafe {
                let memory = LargePages.alloc(layout);
                assert!(!memory.is_null());
                places().for_each(|at| memory.add(at).write(at as u8));
                let memory = LargePages.realloc(memory, layout, 3 * size);
                assert!(places().all(|at| memory.add(at).read() == at as u8), "{size}");
                memory.add(3 * size - 1).write(1);
                LargePages.dealloc(memory, larger);
                let memory = LargePages.alloc_zeroed(layout);
                assert!(places().all(|at| memory.add(at).read() == 0), "{size}");
                LargePages.dealloc(memory, layout);
            }
        }
    }
}
