use retry_runtime::retry;

struct Client;

#[retry(maks = 3)]
impl Client {
    #[retry(base = 5)]
    async fn fetch(&self) -> std::io::Result<()> {
        Ok(())
    }

    #[retry(skip, max = 3)]
    async fn post(&self) -> std::io::Result<()> {
        Ok(())
    }

    const fn size() -> Result<u32, std::io::Error> {
        Ok(3)
    }
}

fn main() {
    // Nothing is said of these: the methods are still there.
    let _ = Client.fetch();
    let _ = Client.post();
    let _ = Client::size();
}
