use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    retrying!(async { 5 }).await
}

fn blocking() -> Result<(), std::io::Error> {
    retrying!({ std::fs::read("answer"); })
}

fn main() {}
