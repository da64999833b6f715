use retry_runtime::{retry, testing};
use support::failure::{Failure, STOP};

#[retry]
fn by_default() -> Result<(), Failure> {
    Err(STOP)
}

#[retry]
fn r#match() -> Result<(), Failure> {
    Err(STOP)
}

#[retry(name = "model.complete")]
fn literal() -> Result<(), Failure> {
    Err(STOP)
}

#[retry(name = format!("{model}.complete"))]
fn computed(model: &str) -> Result<(), Failure> {
    Err(STOP)
}

struct Client {
    name: String,
}

impl Client {
    #[retry(name = self.name)]
    fn call(&self) -> Result<(), Failure> {
        Err(STOP)
    }
}

#[test]
fn is_in_every_event() {
    let name = |call: &dyn Fn() -> Result<(), Failure>| {
        let recording = testing::record();
        assert_eq!(call(), Err(STOP));
        let line = recording.lines().remove(0);
        let name = line.strip_prefix("gave up ").unwrap();
        String::from(name.split(' ').next().unwrap())
    };
    assert_eq!(name(&by_default), "calls::keys::name::by_default");
    assert_eq!(name(&r#match), "calls::keys::name::match");
    assert_eq!(name(&literal), "model.complete");
    assert_eq!(name(&|| computed("small")), "small.complete");
    let client = Client {
        name: String::from("own"),
    };
    assert_eq!(name(&|| client.call()), "own");
}
