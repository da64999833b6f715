//! Without the key `name`, a block has the name of the surrounding function.

use support::prelude::*;

struct Client {
    failure: Failure,
}

const CLIENT: Client = Client { failure: STOP };

trait Model {
    async fn complete(&self) -> Result<(), Failure>;
}

impl Client {
    async fn fetch(&self) -> Result<(), Failure> {
        retrying!(async { Err(self.failure.clone()) }).await
    }

    fn read(&self) -> Result<(), Failure> {
        let read = || retrying!({ Err(self.failure.clone()) });
        read()
    }
}

impl Model for Client {
    async fn complete(&self) -> Result<(), Failure> {
        retrying!(max = 1 + 1, async { Err(STOP) }).await
    }
}

async fn function() -> Result<(), Failure> {
    async { retrying!(async { Err(STOP) }).await }.await
}

fn generic<T>(_: T) -> Result<(), Failure> {
    retrying!({ Err(STOP) })
}

#[tokio::test]
async fn a_block_has_the_name_of_the_surrounding_function() {
    let recording = testing::record();
    let outcomes = [
        CLIENT.fetch().await,
        CLIENT.read(),
        CLIENT.complete().await,
        function().await,
        generic(5),
        retrying!(name = "s3.get", async { Err(STOP) }).await,
    ];
    assert!(outcomes.iter().all(Result::is_err));
    let lines = recording.lines();
    let names = lines.iter().map(|line| {
        let name = line.strip_prefix("gave up ").unwrap();
        &name[..name.find(" attempt=").unwrap()]
    });
    let names = names.map(|name| name.replace("calls::expressions::names", ""));
    let names: Vec<_> = names.collect();
    let expected = "::Client::fetch ::Client::read ::Client::complete ::function ::generic s3.get";
    assert_eq!(names.join(" "), expected);
}
