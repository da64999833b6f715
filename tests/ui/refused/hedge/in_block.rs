use retry_runtime::retry;

struct Client(u32);

#[retry(hedge = "200ms")]
impl Client {
    async fn complete(&self) -> std::io::Result<u32> {
        Ok(self.0)
    }

    async fn count(&mut self) -> std::io::Result<u32> {
        self.0 += 1;
        Ok(self.0)
    }

    fn load(&self) -> std::io::Result<u32> {
        Ok(self.0)
    }
}

fn main() {}
