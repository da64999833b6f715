use std::cell::Cell;
use std::fmt::Debug;

use retry_runtime::{Classify, Verdict, retry};

trait Transport {
    type Error: Classify + Debug;

    fn send(&self) -> Result<u32, Self::Error>;
}

#[retry(max = 2, backoff = "none")]
async fn complete<T>(transport: &T) -> Result<u32, T::Error>
where
    T: Transport + ?Sized,
{
    transport.send()
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn parse<'a, T: std::str::FromStr, const N: usize>(
    texts: &'a [&'a str; N],
    attempts: &Cell<usize>,
) -> Result<(T, &'a str), T::Err> {
    let text = texts[attempts.replace(attempts.get() + 1)];
    Ok((text.parse()?, text))
}

#[derive(Debug)]
struct Busy<T>(T);

impl<T> Classify for Busy<T> {
    fn classify(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

#[derive(Default)]
struct Client(Cell<u32>);

impl Transport for Client {
    type Error = Busy<u32>;

    fn send(&self) -> Result<u32, Busy<u32>> {
        self.0.set(self.0.get() + 1);
        Err(Busy(self.0.get()))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    assert_eq!(complete(&Client::default()).await.unwrap_err().0, 3);

    let attempts = Cell::new(0);
    assert_eq!(parse::<u32, 3>(&["a", "b", "5"], &attempts), Ok((5, "5")));
    assert_eq!(attempts.get(), 3);
}
