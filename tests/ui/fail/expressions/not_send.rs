use std::rc::Rc;

use retry_runtime::retrying;

fn spawned(name: Rc<str>) -> impl Future<Output = Result<usize, std::io::Error>> + Send {
    retrying!(async move { Ok(name.len()) })
}

fn main() {}
