use retry_runtime::retry;

fn main() {
    #[retry(on = |_| true)]
    let complete = || Ok::<_, String>("hello");
}
