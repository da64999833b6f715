use std::io;
use std::sync::{Arc, LazyLock};

use retry_runtime::{Policy, retry};

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::none);

#[retry(policy = &*POLICY)]
fn lazy() -> io::Result<u32> {
    Ok(1)
}

#[retry(policy = *policy)]
fn shared(policy: Arc<Policy>) -> io::Result<u32> {
    Ok(2)
}

#[retry(policy = policy.unwrap_or(Policy::none()))]
fn optional(policy: Option<Policy>) -> io::Result<u32> {
    Ok(3)
}

pub(crate) fn main() {
    assert_eq!(lazy().unwrap(), 1);
    assert_eq!(shared(Arc::new(Policy::none())).unwrap(), 2);
    assert_eq!(optional(None).unwrap(), 3);
}
