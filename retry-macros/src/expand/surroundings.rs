//! What surrounds an attempt while it runs: its span, and with the feature `nested` what calls within it know.

use proc_macro2::TokenStream;
use quote::TokenStreamExt;
use retry_vocabulary::key::Key;

use crate::attribute::argument::Value;
use crate::expand::model::{DefaultName, Policy};
use crate::expand::printer::Printer;
use crate::tokens::ours;

impl Printer<'_> {
    /// The output of an attempt's future.
    pub(crate) fn awaited(&self, future: TokenStream) -> TokenStream {
        let Some(within) = self.within(&ours!(retry_attempt)) else {
            return ours!(#future.await);
        };
        ours! {
            {
                #[allow(clippy::redundant_closure_call)]
                let retry_attempt = ::core::pin::pin!(#future);
                #within
                // Bound to a name, so that it ends before what it borrows is dropped.
                #[allow(clippy::let_and_return)]
                let retry_finished = retry_attempt.await;
                retry_finished
            }
        }
    }

    /// The outcome of an attempt that blocks.
    pub(crate) fn run(&self, attempt: TokenStream) -> TokenStream {
        let entered = self
            .outer()
            .map(|outer| ours!(let retry_entered = __retry::enter(#outer);));
        let spanned = self
            .model
            .span()
            .map(|_| ours!(let retry_in_span = __retry::span::enter(&retry_attempt_span);));
        let mut left = TokenStream::new();
        if spanned.is_some() {
            left.append_all(ours!(__retry::drop(retry_in_span);));
        }
        if entered.is_some() {
            left.append_all(ours!(__retry::drop(retry_entered);));
        }
        if left.is_empty() {
            return attempt;
        }
        ours! {
            {
                #entered
                #spanned
                let retry_finished = #attempt;
                #left
                retry_finished
            }
        }
    }

    /// Has a pinned future, bound to that name, run within what surrounds it.
    pub(crate) fn within(&self, pinned: &TokenStream) -> Option<TokenStream> {
        let nested = self
            .outer()
            .map(|outer| ours!(__retry::within(#pinned, #outer)));
        let spanned = self
            .model
            .span()
            .map(|_| ours!(__retry::span::within(#pinned, &retry_attempt_span)));
        let layers: Vec<_> = [nested, spanned].into_iter().flatten().collect();
        (!layers.is_empty()).then(|| ours!(#(let #pinned = ::core::pin::pin!(#layers);)*))
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
