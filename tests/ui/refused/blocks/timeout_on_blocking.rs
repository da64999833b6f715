use retry_runtime::retry;

struct Client;

#[retry(max = 3, timeout = "10s")]
impl Client {
    async fn fetch(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn read(&self) -> std::io::Result<()> {
        Ok(())
    }

    #[retry(skip)]
    fn write(&self) -> std::io::Result<()> {
        Ok(())
    }
}

fn main() {}
