//! Generics, const generics, where-clauses, lifetimes.

use std::fmt::Debug;
use std::marker::PhantomData;

use retry_runtime::retry;

use crate::shapes::{Busy, Flaky, check, check_blocking};

#[retry(policy = flaky.policy, on = |_| true)]
async fn generic<'a, T, const N: usize>(flaky: &'a Flaky, items: [T; N]) -> Result<u32, Busy>
where
    T: Clone + Debug + PartialEq<&'static str> + 'a,
{
    for item in items.clone() {
        assert_eq!(item, "hello");
    }
    assert_eq!(N, items.len());
    flaky.answer()
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn impl_arguments(
    flaky: &Flaky,
    prompt: impl AsRef<str>,
    respond: impl Fn(u32) -> u32,
) -> Result<u32, Busy> {
    assert_eq!(prompt.as_ref(), "hello");
    flaky.answer().map(&respond)
}

struct Client<'a, T, E> {
    flaky: &'a Flaky,
    names: Vec<T>,
    error: PhantomData<E>,
}

impl<'a, T, E> Client<'a, T, E>
where
    T: AsRef<str>,
    E: From<Busy>,
{
    /// The error type has neither `Display` nor `Debug` here, so the log shows its name.
    #[retry(policy = self.flaky.policy, on = |_| true)]
    async fn borrowed_from_self(&self) -> Result<(u32, &str), E> {
        let answer = self.flaky.answer()?;
        Ok((answer, self.names[0].as_ref()))
    }

    #[retry(policy = self.flaky.policy, on = |_| true)]
    async fn borrowed_from_argument<'b>(&self, prompt: &'b str) -> Result<(u32, &'b str), E>
    where
        'a: 'b,
    {
        Ok((self.flaky.answer()?, prompt.trim()))
    }

    #[retry(policy = self.flaky.policy, on = |_| true)]
    fn blocking(&self) -> Result<(u32, &T), E> {
        let answer = self.flaky.answer()?;
        self.names
            .first()
            .map(|name| (answer, name))
            .ok_or_else(|| Busy(0).into())
    }
}

fn client(flaky: &Flaky) -> Client<'_, String, Busy> {
    Client {
        flaky,
        names: vec![String::from("hello")],
        error: PhantomData,
    }
}

/// The answer of a function that also returns what it borrows.
fn checked((answer, borrowed): (u32, &str)) -> u32 {
    assert_eq!(borrowed, "hello");
    answer
}

#[tokio::test(start_paused = true)]
async fn generics_and_borrowed_results() {
    check!(|flaky| generic(flaky, ["hello", "hello"]).await);
    check!(|flaky| impl_arguments(flaky, "hello", |answer| answer).await);
    check!(|flaky| client(flaky).borrowed_from_self().await.map(checked));
    check!(|flaky| {
        let prompt = String::from("hello");
        let outcome = {
            let client = client(flaky);
            client.borrowed_from_argument(&prompt).await
        };
        outcome.map(checked)
    });
    check_blocking!(|flaky| {
        let client = client(flaky);
        let outcome = client.blocking();
        outcome.map(|(answer, name)| checked((answer, name)))
    });
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn refused_by_a_trait<T: TryFrom<u8>, N: ?Sized>(_: &N, attempts: &mut u32) -> Result<T, T::Error> {
    *attempts += 1;
    T::try_from(200)
}

#[test]
fn error_types_may_be_projections() {
    let mut attempts = 0;
    assert!(refused_by_a_trait::<i8, str>("", &mut attempts).is_err());
    assert_eq!(attempts, 3);
    assert_eq!(refused_by_a_trait::<u16, [u8]>(&[], &mut attempts), Ok(200));
    assert_eq!(attempts, 4);
}
