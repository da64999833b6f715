//! Added to the copy of the project: decides at run time which mutation is active.

use std::collections::HashSet;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{LazyLock, Mutex};
use std::thread;

/// The number of the active mutation.
static ACTIVE: LazyLock<Option<usize>> = LazyLock::new(|| env::var("MUTATION").ok()?.parse().ok());

/// The file to which each test writes the numbers of the mutations that it reaches, and what it contains.
static REACHED: LazyLock<Option<Mutex<Reached>>> = LazyLock::new(|| {
    let path = env::var_os("MUTATIONS_REACHED")?;
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .expect("a file");
    Some(Mutex::new((HashSet::new(), file)))
});

type Reached = (HashSet<(usize, String)>, File);

/// Returns true if the mutation with this number is active.
pub fn on(number: usize) -> bool {
    if let Some(reached) = &*REACHED {
        // The test harness gives each test a thread of its name.
        let test = thread::current().name().unwrap_or_default().to_owned();
        let (seen, file) = &mut *reached.lock().expect("no panic");
        if seen.insert((number, test.clone())) {
            file.write_all(format!("{number} {test}\n").as_bytes())
                .expect("space");
        }
    }
    *ACTIVE == Some(number)
}
