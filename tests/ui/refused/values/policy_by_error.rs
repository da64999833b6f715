use retry_runtime::{Policy, retry};

#[retry(policy = |error| choose(error), until = |value| *value > 9)]
async fn until() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = |error| choose(error), hedge = "1s")]
async fn hedge() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = |error| choose(error), timeout)]
async fn timeout() -> std::io::Result<u32> {
    Ok(1)
}

#[retry(policy = async |error| choose(error), max = 3)]
async fn waits() -> Result<u32, String> {
    Ok(1)
}

#[retry(wrapper = Retrying, policy = |error| choose(error))]
trait Model {
    async fn ask(&self) -> Result<u32, String>;
}
