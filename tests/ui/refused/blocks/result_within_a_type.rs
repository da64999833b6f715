use std::io;
use std::task::Poll;

use retry_runtime::retry;

type Fallible<T> = io::Result<T>;
type QueryResult<T> = Result<T, String>;

struct SearchResult;

macro_rules! fallible {
    ($value:ty) => { Result<$value, String> };
}

struct Client;

#[retry(max = 3)]
impl Client {
    fn of_a_macro(&self) -> fallible!(u32) {
        Ok(3)
    }

    fn option(&self) -> Option<io::Result<()>> {
        None
    }

    fn boxed(&self) -> Box<QueryResult<u32>> {
        Box::new(Ok(3))
    }

    fn found(&self) -> Vec<SearchResult> {
        Vec::new()
    }

    fn sink(&self) -> Box<dyn Fn(io::Result<u32>)> {
        Box::new(drop)
    }

    fn tuple(&self) -> (u32, io::Result<()>) {
        (3, Ok(()))
    }

    fn poll(&self) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn task(&self) -> tokio::task::JoinHandle<io::Result<()>> {
        tokio::spawn(async { Ok(()) })
    }

    fn closure(&self) -> impl AsyncFn() -> io::Result<()> {
        async || Ok(())
    }

    fn items(&self) -> impl Iterator<Item = io::Result<()>> {
        [Ok(())].into_iter()
    }

    fn borrowed(&self) -> &io::Result<()> {
        &Ok(())
    }

    #[retry(skip)]
    fn skipped(&self) -> Option<io::Result<()>> {
        None
    }

    #[retry(max = 4)]
    fn marked(&self) -> Fallible<()> {
        Ok(())
    }
}

fn main() {}
