use retry_runtime::retry;

#[retry]
fn numbers() -> impl Iterator<Item = u32> {
    [1].into_iter()
}

#[retry]
async fn numbers_later() -> impl Iterator<Item = u32> {
    [1].into_iter()
}

#[retry]
fn future() -> impl Future<Output = impl Iterator<Item = u32>> {
    async { [1].into_iter() }
}

fn main() {}
