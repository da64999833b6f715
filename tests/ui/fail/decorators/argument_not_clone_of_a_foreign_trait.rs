use std::io;

use retry_runtime::retry;

mod other {
    use std::io;

    pub struct Params(pub u32);

    pub trait Model {
        fn ask(&self, params: Params) -> io::Result<String>;
    }
}

use other::Params;

#[retry(wrapper = Retrying, of = other::Model)]
trait Model {
    fn ask(&self, params: Params) -> io::Result<String>;
}

fn main() {}
