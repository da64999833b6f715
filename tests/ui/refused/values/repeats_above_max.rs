use retry_runtime::retry;

#[retry(max = 2, repeats = 4)]
fn read() -> std::io::Result<()> {
    Ok(())
}
