use retry_runtime::retry;

struct Client;
struct Busy;

#[retry(max = 3)]
impl Client {
    fn complete(&self) -> Result<(), Busy> {
        Err(Busy)
    }
}

fn main() {}
