use retry_runtime::retry;

#[retry(max = 2, span = true)]
async fn fetch() -> std::io::Result<()> {
    Ok(())
}

#[retry(max = 2, span = true)]
fn read() -> std::io::Result<()> {
    Ok(())
}

fn main() {
    let _ = fetch();
    let _ = read();
}
