//! What surrounds the call and each attempt: the key `span`, and with the feature `nested` what calls within an attempt know.

use retry_vocabulary::key::Key;

use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::model::{DefaultName, NESTED, Policy};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// The output of an attempt's future.
    pub(crate) fn awaited(&self, future: Code) -> Code {
        if !self.is_surrounded() {
            return ours!(#future.await);
        }
        let (outer, is_spanned) = (self.outer(), self.model.span().is_some());
        let pin = |future| ours!(let retry_attempt = ::core::pin::pin!(#future););
        // Known before the attempt, which may borrow mutably what it is read from.
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
                // Bound to a name, so that it ends before what it borrows is dropped.
                #[allow(clippy::let_and_return)]
                let retry_finished = retry_attempt.await;
                retry_finished
            }
        }
    }

    /// The outcome of an attempt that blocks.
    pub(crate) fn run(&self, attempt: Code) -> Code {
        let (outer, is_spanned) = (self.outer(), self.model.span().is_some());
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

    /// Whether attempts run within anything.
    pub(crate) fn is_surrounded(&self) -> bool {
        self.model.span().is_some() || self.outer().is_some()
    }

    /// The call, of type `Outer`. Where its retries are off, it multiplies nothing.
    fn outer(&self) -> Option<Code> {
        let enabled = self.model.arguments.value(Key::Enabled);
        if !NESTED || matches!(enabled, Some(KeyValue::Bool(false))) {
            return None;
        }
        if let Policy::Constant(_) = self.model.policy {
            return Some(ours!(const { __retry::Outer::of(__RETRY_SITE, #(self.values())) }));
        }
        let name = self.model.arguments.value(Key::Name);
        let outer = match (name, self.client_name()) {
            (Some(KeyValue::Text(name)), _) => ours!(__retry::Outer::named(#name)),
            (None, Some(name)) => ours!(__retry::Outer::named_by(|| #name)),
            // An expression may need what the attempt changes.
            (_, _) if self.model.default_name == DefaultName::Surroundings => {
                ours!(__retry::Outer::named_as(__retry_name))
            }
            (_, _) => ours!(__retry::Outer::named(#(self.path()))),
        };
        Some(self.limited(outer))
    }

    /// The `outer`, and how many attempts it may make, where that is known before a failure.
    fn limited(&self, outer: Code) -> Code {
        let may_be_off = self.model.expr(Key::Enabled).is_some();
        let attempts = if_else(may_be_off, ours!(only_attempt), ours!(most_attempts));
        let up_to = |own: Code| {
            ours! {
                __retry::Outer::up_to(
                    #outer,
                    const { __retry::#attempts(&__RETRY_POLICY #own, #(self.values())) },
                )
            }
        };
        match &self.model.policy {
            Policy::Numbers(numbers) if says_max(numbers) => up_to(Code::new()),
            Policy::Decorator {
                this,
                of_trait,
                own,
                ..
            } if of_trait.numbers().is_some_and(says_max) && says_max(own) => {
                let literals = self.setters(own, &|number| number.value.is_literal());
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
        let bound = self.call_span(span);
        if self.asyncness == Asyncness::Blocking {
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
            // Bound to a name, so that it ends before what it borrows is dropped.
            #[allow(clippy::let_and_return)]
            let retry_finished = __retry::span::within(retry_spanned, &retry_span).await;
            retry_finished
        }
    }

    fn call_span(&self, key: &Argument) -> Code {
        let name = self.name();
        let new =
            ours_at!(key.span=> __retry::span::of_call(__retry::Features, retry_spans, #name));
        ours! {
            let retry_spans: bool = #(self.argument(key));
            let retry_span = #new;
        }
    }

    /// Binds the span of the attempt that begins.
    pub(crate) fn attempt_span(&self) -> Option<Code> {
        self.model.span()?;
        let next = ours!(__retry::span::next(&retry_begun));
        let own = ours!(__retry::Call::attempt(#(self.whole_call())));
        let number = if_else(self.model.is_hedged(), next, own);
        Some(ours!(let retry_attempt_span = __retry::span::of_attempt(retry_spans, #number);))
    }

    /// Binds what counts attempts that begin beside others, whose closure can't borrow the call.
    pub(crate) fn begun(&self) -> Option<Code> {
        self.model.span()?;
        let call = self.whole_call();
        Some(ours!(let retry_begun = __retry::span::begun(__retry::Call::attempt(#call));))
    }
}

/// Whether the literals among the numbers of a policy say how many retries it allows.
fn says_max(numbers: &[Argument]) -> bool {
    numbers.iter().all(|number| {
        let is_limit = number.key == Key::Max || number.key.is_section();
        number.value.is_literal() || !is_limit
    })
}
