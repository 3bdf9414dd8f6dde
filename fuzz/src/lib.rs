//! What the fuzz targets share: a cell that must never be told.
//!
//! Wherever an input has the byte [`MARK`], [`plant`] puts a text that occurs nowhere else. So the fuzzer moves cells
//! with a known text around, and [`keeps_quiet`] sees whether a message repeats one.
#![forbid(unsafe_code)]

/// Stands for a cell in an input.
pub const MARK: u8 = b'@';

/// What no message may contain.
pub const CANARY: &str = "planted cell";

/// The input with every mark replaced.
pub fn plant(bytes: &[u8]) -> Vec<u8> {
    let mut planted = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            MARK => planted.extend_from_slice(CANARY.as_bytes()),
            byte => planted.push(byte),
        }
    }
    planted
}

/// The error speaks of columns, lines and counts only.
pub fn keeps_quiet(error: &incog::Error) {
    let message = format!("{error}\n{error:?}\n{}", error.hint().unwrap_or_default());
    assert!(!message.contains(CANARY), "a message contains a cell");
}

/// A file of this process for readers that take a path. It is written anew for each input.
pub struct Scratch(std::path::PathBuf);

impl Scratch {
    /// A file whose name ends like this.
    pub fn new(name: &str) -> Self {
        Scratch(std::env::temp_dir().join(format!("incog-fuzz-{}-{name}", std::process::id())))
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Replaces what is in it.
    pub fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.0, bytes).expect("a temporary file can be written");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
