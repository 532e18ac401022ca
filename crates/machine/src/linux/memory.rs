//! Memory that runs out ends the process with a sentence and a status, where Rust's own way out is
//! a signal.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, of a program that ends when it refuses.
#[derive(Debug)]
pub struct OrEnd {
    /// What is said on standard error, with its line end.
    pub sentence: &'static str,
    /// How the process then ends.
    pub status: i32,
}

impl OrEnd {
    fn given(&self, place: *mut u8) -> *mut u8 {
        if !place.is_null() {
            return place;
        }
        // SAFETY: the pointer and the length are of one constant text; neither call allocates.
        unsafe {
            libc::write(libc::STDERR_FILENO, self.sentence.as_ptr().cast(), self.sentence.len());
            libc::_exit(self.status)
        }
    }
}

// SAFETY: it is the system's allocator, except that whoever would get nothing is not returned to.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same contract.
        self.given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the place came from the same allocator.
        self.given(unsafe { System.realloc(place, layout, size) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}
