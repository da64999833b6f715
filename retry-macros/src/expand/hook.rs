//! The keys `before_pause` and `before_retry`: what runs between two attempts, and ends the call where it fails.

use proc_macro2::TokenStream;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::model::Late;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{ours, ours_at, when};

impl Printer<'_> {
    /// Runs the hook of that key. Only after an error: for a value that `until` rejected there is none to show it. A
    /// call that ends after its pause, cancelled or late, ends without. After `before_pause`, the call ends if its
    /// pause would outlast the deadline.
    pub(crate) fn hook(&self, key: Key) -> Option<TokenStream> {
        let hook = self.model.expr(key)?;
        let span = hook.span();
        let next = ours!(__retry::NextAttempt::new(__retry::Call::attempt(#(self.whole_call())), retry_pause));
        let attempt = self.attempt_for(key);
        let hook = self.user(hook);
        let awaited = when(self.asyncness == Asyncness::Async, ours_at!(span=> .await));
        let hooked =
            ours_at!(span=> { #attempt __retry::hook(retry_error, #next, #hook) #awaited });
        let cause = ours_at!(span=> __retry::HookOutcome::cause(#hooked));
        let error = match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(__retry::Attempt::last_failure(&retry_history)),
            Late::FromLocal => ours!(__retry::Option::as_ref(&retry_failed)),
        };
        let error = match self.late().filter(|_| key == Key::BeforeRetry) {
            Some(late) => ours! {
                if __retry::Option::is_some(&#late) { __retry::None } else { #error }
            },
            None => error,
        };
        let last_error = self.last_error()?;
        let shown = ours!(&__retry::Caused(#(self.shown()), &retry_cause));
        let unpaid = self.unpaid();
        let reason = ours!(__retry::Reason::HookFailed);
        Some(ours! {
            let retry_cause = match #error {
                __retry::Some(retry_error) => #cause,
                __retry::None => __retry::None,
            };
            if let __retry::Some(retry_cause) = retry_cause {
                if let __retry::Some(retry_error) = #last_error {
                    #(self.ends_with_error(unpaid.as_ref(), &shown, &reason))
                }
            }
            #((key == Key::BeforePause).then(|| self.late_pause()))
        })
    }
}
