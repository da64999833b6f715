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

#[test]
fn is_in_every_event() {
    let name = |call: &dyn Fn() -> Result<(), Failure>| {
        let recording = testing::record();
        assert_eq!(call(), Err(STOP));
        let line = recording.lines().remove(0);
        let name = line.strip_prefix("gave up ").unwrap();
        String::from(name.split(' ').next().unwrap())
    };
    let client = Client {
        name: String::from("own"),
    };
    assert_rows! {
        name(&by_default) => "calls::keys::name::by_default";
        name(&r#match) => "calls::keys::name::match";
        name(&literal) => "model.complete";
        name(&|| computed("small")) => "small.complete";
        name(&|| client.call()) => "own";
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
    let recording = testing::record();
    let outcomes = [
        Cache.get(),
        Remote(5).get(),
        Remote("a").load(),
        (&Cache).load(),
        Cache::put(),
    ];
    assert_eq!(outcomes, [const { Err(STOP) }; 5]);
    let here = module_path!();
    let names = recording.lines();
    let names = names.iter().map(|line| {
        let name = line.strip_prefix("gave up ").unwrap();
        name.split(' ').next().unwrap()
    });
    let names: Vec<_> = names.map(|name| name.replace(here, "")).collect();
    // A reference has no name.
    let expected = "::Cache::get ::Remote::get ::Remote::load ::load cache.put";
    assert_eq!(names.join(" "), expected);
}
