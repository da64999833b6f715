use retry_runtime::retry;

#[retry(on = |_: &String| true)]
fn complete() -> ! {
    loop {}
}

fn main() {}
