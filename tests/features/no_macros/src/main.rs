use std::cell::Cell;
use std::io;

use retry_runtime::Policy;

fn main() {
    let attempts = Cell::new(0);
    let failed: io::Result<()> = Policy::none().max(4).call_blocking(|| {
        attempts.set(attempts.get() + 1);
        Err(io::ErrorKind::ConnectionRefused.into())
    });
    assert!(failed.is_err());
    assert_eq!(attempts.get(), 5);
}
