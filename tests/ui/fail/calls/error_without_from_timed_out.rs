use std::time::Duration;

use retry_runtime::Policy;

fn main() {
    let call = Policy::new()
        .on(|_: &String| true)
        .timeout(Duration::from_secs(1))
        .call(async || Ok::<u32, String>(1));
    drop(call);
}
