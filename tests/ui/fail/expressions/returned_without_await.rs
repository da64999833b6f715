use retry_runtime::retrying;

#[derive(Debug)]
struct Refused;

async fn read() -> Result<u32, Refused> {
    retrying!(on = |_| true, async { Err(Refused) })
}

fn main() {}
