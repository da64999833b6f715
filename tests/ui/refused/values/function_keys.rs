use retry_runtime::retry;

enum Failed {
    Busy,
    Gone,
}

#[retry(on = [Failed::Busy, Failed::Gone])]
async fn a_list() -> Result<u32, Failed> {
    Ok(1)
}

#[retry(on = matches!(_, Failed::Busy))]
async fn a_pattern() -> Result<u32, Failed> {
    Ok(1)
}

#[retry(on = |_| true, give_up = panic!("gave up"))]
async fn a_panic() -> Result<u32, Failed> {
    Ok(1)
}

fn main() {}
