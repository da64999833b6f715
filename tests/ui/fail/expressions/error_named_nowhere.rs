use retry_runtime::retrying;

async fn complete() -> Result<u32, std::io::Error> {
    let text = retrying!(async { Ok(std::fs::read_to_string("answer")?) }).await?;
    Ok(text.len() as u32)
}

fn main() {}
