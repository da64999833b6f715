use support::prelude::*;

scripted! {
    #[retry] fn by_default() = Err(STOP);
    #[retry] fn r#match() = Err(STOP);
    #[retry(name = "model.complete")] fn literal() = Err(STOP);
    #[retry(name = format!("{model}.complete"))]
    fn computed(model: &str) = Err(STOP);
}

struct Client {
    name: String,
}

impl Client {
    scripted! { #[retry(name = self.name)] fn call(&self) = Err(STOP); }
}

/// The name in the record of a call that gives up at once.
fn name(call: &dyn Fn() -> Result<(), Failure>) -> String {
    let recording = testing::record();
    assert_eq!(call(), Err(STOP));
    let line = recording.lines().remove(0);
    let name = line.strip_prefix("gave up ").unwrap();
    String::from(name.split(' ').next().unwrap())
}

#[test]
fn is_in_every_event() {
    let client = Client {
        name: String::from("own"),
    };
    assert_rows! {
        name(&by_default) => "calls::keys::name::by_default";
        name(&r#match) => "calls::keys::name::match";
        name(&literal) => "model.complete";
        name(&|| computed("small")) => "small.complete";
        name(&|| client.call()) => "own";
        name(&|| Policy::new().call_blocking(|| Err(STOP))) => "calls::keys::name::is_in_every_event";
    }
}

trait Load {
    fn load(&self) -> Result<(), Failure>;
}

struct Cache;

struct Remote<T>(T);

#[retry]
impl Cache {
    fn get(&self) -> Result<(), Failure> {
        Err(STOP)
    }

    #[retry(name = "cache.put")]
    fn put() -> Result<(), Failure> {
        Err(STOP)
    }
}

#[retry]
impl<T> Remote<T>
where
    T: Copy,
{
    fn get(&self) -> Result<(), Failure> {
        match [self.0; 2] {
            [_, _] => Err(STOP),
        }
    }
}

#[retry]
impl<T> Load for Remote<T> {
    fn load(&self) -> Result<(), Failure> {
        Err(STOP)
    }
}

#[retry]
impl Load for &Cache {
    fn load(&self) -> Result<(), Failure> {
        Err(STOP)
    }
}

#[test]
fn a_method_of_a_block_has_its_types_name() {
    assert_rows! {
        name(&|| Cache.get()) => "calls::keys::name::Cache::get";
        name(&|| Remote(5).get()) => "calls::keys::name::Remote::get";
        name(&|| Remote("a").load()) => "calls::keys::name::Remote::load";
        // A reference has no name.
        name(&|| (&Cache).load()) => "calls::keys::name::load";
        name(&Cache::put) => "cache.put";
    }
}
