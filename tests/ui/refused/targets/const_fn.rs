use retry_runtime::retry;

#[retry]
const fn complete() -> Result<u32, std::io::ErrorKind> {
    Ok(5)
}

fn main() {}
