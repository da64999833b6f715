use retry_runtime::retry;

struct Model(String);

#[retry(max = 5)]
impl Model {
    fn name(&self) -> &str {
        &self.0
    }

    #[retry(skip)]
    async fn ping(&self) -> Result<(), std::io::Error> {
        Ok(())
    }
}

type Answer = Result<String, std::io::Error>;

#[retry]
impl Model {
    fn ask(&self) -> Answer {
        Ok(String::new())
    }
}

fn main() {}
