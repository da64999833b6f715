use retry_runtime::retry;

fn main() {
    #[retry(on = |_| true)]
    let complete = || Ok::<_, String>("hello");
    #[retry(on = |_| true)]
    {
        println!("a block");
    }
    let _ = #[retry(on = |_| true)]
    || Ok::<_, String>("hello");
}
