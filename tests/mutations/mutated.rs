//! Added to the copy of the project: decides at run time which mutation is active.

use std::cell::RefCell;
use std::collections::HashSet;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::LazyLock;
use std::thread;

/// The number of the active mutation.
static ACTIVE: LazyLock<Option<usize>> = LazyLock::new(|| env::var("MUTATION").ok()?.parse().ok());

/// The file to which tests write the numbers of the mutations that they reach.
static REACHED: LazyLock<Option<File>> = LazyLock::new(|| {
    let path = env::var_os("MUTATIONS_REACHED")?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    Some(file.expect("a file"))
});

thread_local! {
    /// The mutations that this thread has written.
    static WRITTEN: RefCell<HashSet<usize>> = RefCell::default();
}

/// Returns true if the mutation with this number is active.
pub fn on(number: usize) -> bool {
    if let Some(mut file) = REACHED.as_ref() {
        let is_new = WRITTEN.try_with(|written| written.borrow_mut().insert(number));
        if is_new.unwrap_or(true) {
            // The test harness gives each test a thread of its name.
            let test = thread::current().name().unwrap_or_default().to_owned();
            let line = format!("{number} {test}\n");
            file.write_all(line.as_bytes()).expect("space");
        }
    }
    *ACTIVE == Some(number)
}
