//! What calls within an attempt know about the call around them: the feature `nested`.

use proc_macro2::TokenStream;
use retry_vocabulary::key::Key;

use crate::attribute::argument::Value;
use crate::expand::model::{DefaultName, Policy};
use crate::expand::printer::Printer;
use crate::tokens::ours;

impl Printer<'_> {
    /// The output of an attempt's future.
    pub(crate) fn awaited(&self, future: TokenStream) -> TokenStream {
        let Some(outer) = self.outer() else {
            return ours!(#future.await);
        };
        ours! {
            {
                #[allow(clippy::redundant_closure_call)]
                let retry_attempt = ::core::pin::pin!(#future);
                // Bound to a name, so that it ends before what it borrows is dropped.
                #[allow(clippy::let_and_return)]
                let retry_finished = __retry::within(retry_attempt, #outer).await;
                retry_finished
            }
        }
    }

    /// The outcome of an attempt that blocks.
    pub(crate) fn run(&self, attempt: TokenStream) -> TokenStream {
        let Some(outer) = self.outer() else {
            return attempt;
        };
        ours! {
            {
                let retry_entered = __retry::enter(#outer);
                let retry_finished = #attempt;
                __retry::drop(retry_entered);
                retry_finished
            }
        }
    }

    /// Tells a pinned future, bound to that name, about the call.
    pub(crate) fn within(&self, pinned: &TokenStream) -> Option<TokenStream> {
        let outer = self.outer()?;
        Some(ours!(let #pinned = ::core::pin::pin!(__retry::within(#pinned, #outer));))
    }

    /// The call, of type `Outer`.
    fn outer(&self) -> Option<TokenStream> {
        if !self.model.nested {
            return None;
        }
        if let Policy::Constant(_) = self.model.policy {
            let validates = self.model.has(&[Key::Validate]);
            return Some(ours!(const { __retry::Outer::of(__RETRY_SITE, #validates) }));
        }
        let name = self.model.arguments.value(Key::Name);
        Some(match (name, self.client_name()) {
            (Some(Value::Text(name)), _) => ours!(__retry::Outer::named(#name)),
            (None, Some(name)) => ours!(__retry::Outer::named_by(|| #name)),
            // An expression may need what the attempt changes.
            (_, _) if self.model.default_name == DefaultName::Surroundings => {
                ours!(__retry::Outer::named_as(__retry_name))
            }
            (_, _) => {
                let path = self.path();
                ours!(__retry::Outer::named(#path))
            }
        })
    }
}
