use retry_runtime::retrying;

async fn complete() {
    retrying!(async -> u32 { 5 }).await;
    retrying!(-> Option<u32> { None });
}

fn main() {}
