use retry_runtime::retrying;

async fn first() -> Result<u32, std::io::Error> {
    loop {
        retrying!(async { break }).await?;
        retrying!({ continue })?;
    }
}

fn main() {}
