use retry_runtime::retry;

// What `#[tokio::main]` makes of it.
#[retry(max = 3)]
fn main() -> std::io::Result<()> {
    let body = async { Ok(()) };
    #[allow(clippy::expect_used, clippy::diverging_sub_expression, clippy::needless_return)]
    {
        return tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .expect("Failed building the Runtime")
            .block_on(body);
    }
}

// The runtime is the user's own.
#[retry(max = 3)]
fn by_hand() -> std::io::Result<()> {
    RUNTIME.block_on(async { Ok(()) })
}
