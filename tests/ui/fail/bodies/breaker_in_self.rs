use std::io;

use retry_protections::Breaker;
use retry_runtime::retry;

struct Client {
    breaker: Breaker,
    requests: u32,
}

impl Client {
    #[retry(max = 3, breaker = &self.breaker)]
    async fn get(&mut self) -> io::Result<u32> {
        self.count();
        Ok(self.requests)
    }

    #[retry(max = 3, breaker = &self.breaker)]
    fn get_blocking(&mut self) -> io::Result<u32> {
        self.count();
        Ok(self.requests)
    }

    #[retry(max = 3, breaker = &self.breaker)]
    async fn get_by_field(&mut self) -> io::Result<u32> {
        self.requests += 1;
        Ok(self.requests)
    }

    fn count(&mut self) {
        self.requests += 1;
    }
}

fn main() {}
