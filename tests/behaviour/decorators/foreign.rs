//! Traits of other crates, by a local copy of their declaration.

use std::cell::Cell;

use retry_runtime::retry;

use crate::decorators::Busy;

/// Stands for another crate.
mod other {
    pub(crate) trait Model {
        type Answer;
        async fn complete(&self, prompt: &str) -> Result<Self::Answer, super::Busy>;
        fn name(&self) -> String {
            String::from("unnamed")
        }
    }
}

#[retry(wrapper = Retrying, of = other::Model, backoff = "none", on = |_| true)]
trait Model {
    type Answer;
    async fn complete(&self, prompt: &str) -> Result<Self::Answer, Busy>;
    fn name(&self) -> String;
}

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
