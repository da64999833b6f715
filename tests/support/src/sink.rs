//! A buffer for a subscriber's output.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Keeps what is written to it and its clones.
#[derive(Clone, Default)]
pub struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    /// Returns a writer for a subscriber.
    pub fn writer(&self) -> impl Fn() -> Self + use<> {
        let sink = self.clone();
        move || sink.clone()
    }

    /// All that was written.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
