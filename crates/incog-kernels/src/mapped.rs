//! Memory that goes back when it is freed.
//!
//! The system's allocator keeps some of what is freed for the next who asks. In a process of our own that is welcome. In somebody else's, such as
//! Python, it is memory that nobody has: a table of millions of rows is read, searched and checked in arrays of many megabytes each, and
//! what one step leaves behind is not what the next asks for. [`MappedPages`] takes large allocations from the system one by one, in large
//! pages where it has them, and gives each back when it is freed. Small ones are the system allocator's.
//!
//! 1. An allocation is mapped if it has at least [`LARGE`] bytes and asks for no more alignment than a page. Its layout says so, then as later, so
//!    nothing has to be written down.
//! 2. What grows from mapped to mapped is moved by the system, page by page, without being copied.
//!
//! Cost: a call of the system for each large allocation and one when it is freed, and fresh pages each time. On systems other than Linux, and in
//! Miri, all is the system allocator's.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes. Smaller allocations are not worth a mapping of their own.
const LARGE: usize = 1 << 20;

/// The least page of the systems that are known here.
const PAGE: usize = 1 << 12;

/// The system's allocator for what is small; mappings of their own for what is large.
#[derive(Debug, Clone, Copy, Default)]
pub struct MappedPages;

/// Is such an allocation mapped?
#[inline]
fn is_mapped(layout: Layout) -> bool {
    cfg!(all(target_os = "linux", not(miri))) && layout.size() >= LARGE && layout.align() <= PAGE
}

// SAFETY: whether memory is mapped or the system allocator's follows from its layout alone, which is the same when it is freed. Mappings are as
// long as the layout says or longer, aligned to a page, and nobody else's until they are unmapped.
#[expect(unsafe_code, reason = "an allocator's contract is one with its caller")]
unsafe impl GlobalAlloc for MappedPages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return system::map(layout.size());
        }
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            // Fresh pages are zeros.
            return system::map(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size, with this alignment, makes a layout.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (is_mapped(layout), is_mapped(new)) {
            // SAFETY: as above.
            (false, false) => unsafe { System.realloc(memory, layout, new_size) },
            // SAFETY: the memory was mapped with the size of its layout.
            (true, true) => unsafe { system::remap(memory, layout.size(), new_size) },
            _ => {
                // SAFETY: the new memory is none of the old, and both have the bytes that are copied. The old is freed with its layout.
                unsafe {
                    let moved = self.alloc(new);
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(memory, layout.size().min(new_size));
                        self.dealloc(memory, layout);
                    }
                    moved
                }
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            // SAFETY: the memory was mapped with the size of its layout, and nobody has it any more.
            unsafe { system::unmap(memory, layout.size()) };
        } else {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) };
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::ffi::{c_int, c_long, c_void};

    #[expect(unsafe_code, reason = "the system is called like this")]
    unsafe extern "C" {
        fn mmap(
            at: *mut c_void,
            n: usize,
            protection: c_int,
            flags: c_int,
            file: c_int,
            from: c_long,
        ) -> *mut c_void;
        fn munmap(at: *mut c_void, n: usize) -> c_int;
        fn mremap(at: *mut c_void, n: usize, new_n: usize, flags: c_int, ...) -> *mut c_void;
        fn madvise(at: *mut c_void, n: usize, advice: c_int) -> c_int;
    }

    const READ_AND_WRITE: c_int = 1 | 2;
    #[cfg(not(any(target_arch = "mips", target_arch = "mips64")))]
    const PRIVATE_AND_ANONYMOUS: c_int = 0x2 | 0x20;
    #[cfg(any(target_arch = "mips", target_arch = "mips64"))]
    const PRIVATE_AND_ANONYMOUS: c_int = 0x2 | 0x800;
    const MAY_MOVE: c_int = 1;
    const LARGE_PAGES: c_int = 14;

    /// Fresh pages, or null.
    #[expect(unsafe_code, reason = "the system is called like this")]
    pub(super) fn map(size: usize) -> *mut u8 {
        // SAFETY: a mapping that is anonymous and nowhere in particular is nobody else's. The advice changes the content of no page.
        unsafe {
            let memory = mmap(std::ptr::null_mut(), size, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0);
            if memory.addr() == usize::MAX {
                return std::ptr::null_mut();
            }
            madvise(memory, size, LARGE_PAGES);
            memory.cast()
        }
    }

    /// The same content in another size, or null, and then all is as it was. The memory is a mapping of that size.
    #[expect(unsafe_code, reason = "the system is called like this")]
    pub(super) unsafe fn remap(memory: *mut u8, size: usize, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let moved = unsafe { mremap(memory.cast(), size, new_size, MAY_MOVE) };
        if moved.addr() == usize::MAX { std::ptr::null_mut() } else { moved.cast() }
    }

    /// Gives a mapping of that size back.
    #[expect(unsafe_code, reason = "the system is called like this")]
    pub(super) unsafe fn unmap(memory: *mut u8, size: usize) {
        // SAFETY: the caller's promise. It fails where there was no mapping, and then there is nothing to do.
        unsafe { munmap(memory.cast(), size) };
    }
}

/// Never called: nothing is mapped here.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    pub(super) fn map(_: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    #[expect(unsafe_code, reason = "as where it does something")]
    pub(super) unsafe fn remap(_: *mut u8, _: usize, _: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    #[expect(unsafe_code, reason = "as where it does something")]
    pub(super) unsafe fn unmap(_: *mut u8, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "allocators are called like this")]
    fn memory_keeps_its_content_whatever_size_it_had_and_gets() {
        let sizes = [1, 100, PAGE, LARGE - 1, LARGE, LARGE + 1, 5 * LARGE + 12_345];
        for size in sizes {
            for new_size in sizes {
                // Miri, which is slow, looks at some places.
                let n = size.min(new_size);
                let places = || (0..n).step_by(if cfg!(miri) { n.div_ceil(9) } else { 1 });
                let layout = Layout::from_size_align(size, 8).unwrap();
                let new = Layout::from_size_align(new_size, 8).unwrap();
                // SAFETY: layouts are those of the allocation, and nothing is read that was not written or zeroed.
                unsafe {
                    let memory = MappedPages.alloc(layout);
                    assert!(!memory.is_null() && memory.addr().is_multiple_of(8));
                    places().for_each(|at| memory.add(at).write(at as u8));
                    let memory = MappedPages.realloc(memory, layout, new_size);
                    assert!(places().all(|at| memory.add(at).read() == at as u8), "{size} to {new_size}");
                    memory.add(new_size - 1).write(1);
                    MappedPages.dealloc(memory, new);
                    let memory = MappedPages.alloc_zeroed(layout);
                    assert!(places().all(|at| memory.add(at).read() == 0), "{size}");
                    MappedPages.dealloc(memory, layout);
                }
            }
        }
    }

    // Miri ends where the memory of this machine does, instead of saying no.
    #[test]
    #[cfg(not(miri))]
    #[expect(unsafe_code, reason = "allocators are called like this")]
    fn what_cannot_be_had_is_null_and_what_was_there_stays() {
        let layout = Layout::from_size_align(2 * LARGE, 8).unwrap();
        // SAFETY: as above; half of all addresses cannot be had.
        unsafe {
            let memory = MappedPages.alloc(layout);
            memory.write(7);
            assert!(MappedPages.realloc(memory, layout, usize::MAX / 2 - PAGE).is_null());
            assert_eq!(memory.read(), 7);
            MappedPages.dealloc(memory, layout);
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    #[expect(unsafe_code, reason = "allocators are called like this")]
    fn what_is_freed_goes_back_at_once() {
        let resident = || -> usize {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * PAGE
        };
        let layouts: Vec<Layout> =
            (1..20).map(|at| Layout::from_size_align(at * LARGE, 8).unwrap()).collect();
        let before = resident();
        // SAFETY: as above.
        unsafe {
            let of: Vec<*mut u8> = layouts.iter().map(|&layout| MappedPages.alloc(layout)).collect();
            for (&memory, layout) in of.iter().zip(&layouts) {
                memory.write_bytes(1, layout.size());
            }
            assert!(resident() > before + 100 * LARGE);
            of.iter().zip(&layouts).for_each(|(&memory, &layout)| MappedPages.dealloc(memory, layout));
        }
        // Other tests run meanwhile.
        assert!(resident() < before + 60 * LARGE);
    }
}
