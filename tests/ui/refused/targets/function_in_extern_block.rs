use retry_runtime::retry;

unsafe extern "C" {
    #[retry(on = |_| true)]
    fn complete() -> Result<u32, u32>;
}

fn main() {}
