use std::borrow::Cow;

use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    fn slot(&mut self) -> Result<&u32, String> {
        self.slots.push(1);
        self.slots.first().ok_or_else(String::new)
    }

    #[retry(on = |_| true)]
    async fn transaction(&mut self) -> Result<Transaction<'_>, String> {
        self.begin().await
    }

    #[retry(on = |_| true)]
    fn boxed(&mut self) -> BoxFuture<'_, Result<Box<dyn Guard + '_>, String>> {
        Box::pin(self.lock())
    }

    #[retry(on = |_| true)]
    async fn may_own(&mut self) -> Result<Cow<'_, str>, String> {
        self.text().await
    }

    #[retry(on = |_| true)]
    async fn of_another(&mut self, text: &'a str) -> Result<&'a str, String> {
        self.trim(text).await
    }

    #[retry(on = |_| true)]
    async fn of_shared(&self, buffer: &mut Vec<u8>) -> Result<&str, String> {
        self.read(buffer).await
    }
}

#[retry(on = |_| true)]
async fn begin<'a>(pool: &'a mut Pool) -> Result<(u32, Transaction<'a>), String> {
    pool.begin().await
}

#[retry(on = |_| true)]
fn captures_nothing(pool: &mut Pool) -> impl Future<Output = Result<u32, String>> + use<> {
    pool.slots.push(1);
    async { Ok(1) }
}

fn main() {}
