//! A nameless file that children write to and the parent reads while they do.
//!
//! A file, not a pipe: a pipe stays open for as long as any grandchild lives, and a reader would wait for it.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::{self, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one or more output streams have written so far.
#[derive(Debug)]
pub(crate) struct Capture {
    writer: File,
    reader: File,
    bytes: Vec<u8>,
}

impl Capture {
    /// An empty capture. Its file has already lost its name, so nothing is left behind.
    pub(crate) fn new() -> io::Result<Self> {
        let path = fresh_path();
        let writer = OpenOptions::new().append(true).create_new(true).open(&path)?;
        let reader = File::open(&path)?;
        fs::remove_file(&path)?;
        Ok(Self { writer, reader, bytes: Vec::new() })
    }

    /// A stream for a child to write to. Streams of one capture append to one another.
    pub(crate) fn stdio(&self) -> io::Result<Stdio> {
        Ok(self.writer.try_clone()?.into())
    }

    /// Reads, keeps and returns what was written since the last call.
    pub(crate) fn read_new(&mut self) -> io::Result<&[u8]> {
        let seen = self.bytes.len();
        self.reader.read_to_end(&mut self.bytes)?;
        Ok(&self.bytes[seen..])
    }

    /// All that was read. Bytes that are no UTF-8 become replacement characters.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A path that no other capture of this or any other process uses.
fn fresh_path() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("xtask-{}-{number}.log", process::id()))
}
