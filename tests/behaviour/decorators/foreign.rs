//! Traits of other crates, by a local copy of their declaration.

use std::cell::Cell;

use retry_runtime::retry;

use crate::decorators::Busy;

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

#[derive(Clone)]
struct Client(Cell<u32>);

impl other::Model for Client {
    type Answer = u32;

    async fn complete(&self, prompt: &str) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.0.set(self.0.get() + 1);
        if self.0.get() < 3 {
            Err(Busy(self.0.get()))
        } else {
            Ok(self.0.get())
        }
    }
}

#[tokio::test]
async fn the_foreign_trait_is_implemented_and_no_other_declared() {
    use other::Model;

    let model = Retrying::new(Client(Cell::new(0)));
    assert_eq!(model.complete("hello").await, Ok(3));
    assert_eq!(model.name(), "unnamed");
}

#[tokio::test]
async fn a_body_in_the_copy_runs_where_the_clients_own_method_can_not() {
    use other::Model;

    let model = Retrying::new(Client(Cell::new(0)));
    let (first, second) = model.pair().unwrap();
    assert_eq!(first.complete("hello").await, Ok(3));
    assert_eq!(second.inner().0.get(), 0);
}
