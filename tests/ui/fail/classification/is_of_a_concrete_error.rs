use retry_runtime::{Classify, on, retry};

#[derive(Debug, Classify)]
#[classify(transient)]
struct Busy;

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("busy")
    }
}

impl std::error::Error for Busy {}

#[derive(Debug)]
struct ClientError;

#[retry(on = on::is::<Busy>)]
async fn fetch() -> Result<String, ClientError> {
    Err(ClientError)
}

fn main() {
    let _ = fetch();
}
