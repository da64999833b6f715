//! Code around the call and each attempt: the key `span`, and the context for nested calls (feature `nested`).

use quote::ToTokens;
use retry_vocabulary::key::Key;

use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::model::{NESTED, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Code that awaits an attempt's future.
    pub(crate) fn await_future(&self, future: Code) -> Code {
        if !self.has_context() {
            return ours!(#future.await);
        }
        let (outer, is_spanned) = (self.outer_call(), self.model.span().is_some());
        let pin = |future| ours!(let retry_attempt = ::core::pin::pin!(#future););
        // Read before the attempt, which may mutably borrow the same values.
        let known = outer.as_ref().map(|outer| ours!(let retry_outer = #outer;));
        let nested = outer.map(|_| pin(ours!(__retry::within(retry_attempt, retry_outer))));
        let spanned = pin(ours!(__retry::span::within(
            retry_attempt,
            &retry_attempt_span
        )));
        ours! {
            {
                #known
                #[allow(clippy::redundant_closure_call)]
                #(pin(future))
                #nested
                #?(is_spanned) { #spanned }
                // Bound to a name, so that temporaries are dropped before the values that they borrow.
                #[allow(clippy::let_and_return)]
                let retry_finished = retry_attempt.await;
                retry_finished
            }
        }
    }

    /// Code that runs a blocking attempt.
    pub(crate) fn run_blocking(&self, attempt: Code) -> Code {
        let (outer, is_spanned) = (self.outer_call(), self.model.span().is_some());
        if outer.is_none() && !is_spanned {
            return attempt;
        }
        let is_known = outer.is_some();
        let entered = outer.map(|outer| ours!(let retry_entered = __retry::enter(#outer);));
        ours! {
            {
                #entered
                #?(is_spanned) { let retry_in_span = __retry::span::enter(&retry_attempt_span); }
                let retry_finished = #attempt;
                #?(is_spanned) { __retry::drop(retry_in_span); }
                #?(is_known) { __retry::drop(retry_entered); }
                retry_finished
            }
        }
    }

    /// True if attempts run in a span or with a nested-call context.
    pub(crate) fn has_context(&self) -> bool {
        self.model.span().is_some() || self.outer_call().is_some()
    }

    /// The context for nested calls, of type `Outer`. `None` if retries are disabled, because then attempts don't
    /// multiply.
    fn outer_call(&self) -> Option<Code> {
        if !NESTED || self.model.arguments.is_off(Key::Enabled) {
            return None;
        }
        if let Policy::Constant(_) = self.model.policy {
            return Some(ours!(const { __retry::Outer::of(__RETRY_SITE, #(self.value_mode())) }));
        }
        let name = match (self.model.arguments.value(Key::Name), self.client_name()) {
            (Some(KeyValue::Text(name)), _) => name.to_token_stream(),
            (None, Some(name)) => name,
            // A `name` expression may use values that the attempt modifies.
            (_, _) => self.path(),
        };
        Some(self.with_max(ours!(__retry::Outer::named_by(|| ::core::convert::From::from(#name)))))
    }

    /// Adds the maximum number of attempts to `outer`, if it is known before a failure.
    fn with_max(&self, outer: Code) -> Code {
        let may_be_off = self.model.expr(Key::Enabled).is_some();
        let attempts = if_else(may_be_off, ours!(only_attempt), ours!(most_attempts));
        let up_to = |own: Code| {
            ours! {
                __retry::Outer::up_to(#outer, const { __retry::#attempts(&__RETRY_POLICY #own, #(self.value_mode())) })
            }
        };
        match &self.model.policy {
            Policy::Settings(settings) if has_literal_max(settings) => up_to(Code::new()),
            Policy::Decorator {
                this,
                of_trait,
                own,
                ..
            } if of_trait.settings().is_some_and(has_literal_max) && has_literal_max(own) => {
                let literals = self.setters(own.iter().filter(|number| number.value.is_literal()));
                ours! {
                    match &#this.policy {
                        __retry::None => #(up_to(literals)),
                        __retry::Some(_) => #outer,
                    }
                }
            }
            _ => outer,
        }
    }

    /// The loop, in the call's span.
    pub(crate) fn in_call_span(&self, retried: Code) -> Code {
        let Some(span) = self.model.span() else {
            return retried;
        };
        let new = ours_at!(span.span=> __retry::span::of_call(__retry::Features, retry_spans, #(self.name())));
        let bound = ours! {
            let retry_spans: bool = #(self.argument(span));
            let retry_span = #new;
        };
        if !self.is_async {
            return ours! {
                #bound
                let retry_entered = __retry::span::enter(&retry_span);
                let retry_finished = { #retried };
                __retry::drop(retry_entered);
                retry_finished
            };
        }
        ours! {
            #bound
            let retry_spanned = ::core::pin::pin!(async { #retried });
            // Bound to a name, so that temporaries are dropped before the values that they borrow.
            #[allow(clippy::let_and_return)]
            let retry_finished = __retry::span::within(retry_spanned, &retry_span).await;
            retry_finished
        }
    }

    /// Binds the span of the attempt that starts.
    pub(crate) fn attempt_span(&self) -> Option<Code> {
        self.model.span()?;
        let next = ours!(__retry::span::next(&retry_begun));
        let own = ours!(__retry::Call::attempt(#(self.full_call())));
        let number = if_else(self.model.has(&[Key::Hedge]), next, own);
        Some(ours!(let retry_attempt_span = __retry::span::of_attempt(retry_spans, #number);))
    }

    /// Binds a counter for hedged attempts, whose closure can't borrow the call.
    pub(crate) fn bind_counter(&self) -> Option<Code> {
        self.model.span()?;
        let call = self.full_call();
        Some(ours!(let retry_begun = __retry::span::begun(__retry::Call::attempt(#call));))
    }
}

/// True if the literals of a policy determine how many retries it allows.
fn has_literal_max(settings: &[Argument]) -> bool {
    settings.iter().all(|number| {
        let is_limit = number.key == Key::Max || number.key.is_section();
        number.value.is_literal() || !is_limit
    })
}
