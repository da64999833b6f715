//! Traits of other crates, by a local copy of their declaration.

use retry_runtime::retry;

use crate::decorators::{Busy, Flaky};

/// Stands in for another crate.
mod other {
    pub(crate) trait Model {
        type Answer;
        async fn complete(&self, prompt: &str) -> Result<Self::Answer, super::Busy>;
        fn name(&self) -> String {
            String::from("unnamed")
        }
        fn pair(&self) -> Option<(Self, Self)>
        where
            Self: Clone,
        {
            None
        }
    }
}

#[retry(wrapper = Retrying, of = other::Model, backoff = "none", on = |_| true)]
trait Model {
    type Answer;
    async fn complete(&self, prompt: &str) -> Result<Self::Answer, Busy>;
    fn name(&self) -> String;
    fn pair(&self) -> Option<(Self, Self)>
    where
        Self: Clone,
    {
        Some((self.clone(), self.clone()))
    }
}

impl other::Model for Flaky {
    type Answer = u32;

    async fn complete(&self, prompt: &str) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }
}

#[tokio::test]
async fn the_foreign_trait_is_implemented_and_no_other_declared() {
    use other::Model;

    let model = Retrying::new(Flaky::new(2));
    assert_eq!(model.complete("hello").await, Ok(3));
    assert_eq!(model.name(), "unnamed");
}

#[tokio::test]
async fn a_body_in_the_copy_runs_where_the_clients_own_method_can_not() {
    use other::Model;

    let model = Retrying::new(Flaky::new(2));
    let (first, second) = model.pair().unwrap();
    assert_eq!(first.complete("hello").await, Ok(3));
    assert_eq!(second.inner().attempts.get(), 0);
}
