//! The decision after a failure.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::model::{History, Policy};
use crate::expand::printer::Printer;
use crate::target::outcome;
use crate::tokens::{Code, if_else, ours, ours_at};

/// The origin of a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureSource {
    /// The body returned an error.
    Body,
    /// `until` rejected the value; there is no error.
    Until,
    /// `validate` rejected the value with an error.
    Validation,
}

impl FailureSource {
    /// True if there is an error.
    pub(crate) fn has_error(self) -> bool {
        self != Self::Until
    }
}

impl Printer<'_> {
    /// Handles an attempt that returned `Err(retry_error)`.
    pub(crate) fn after_error(&self) -> Code {
        let kept = self.model.history.map(|history| {
            ours! {
                #?(history == History::Items) {
                    __retry::stream::resume::keep(&mut retry_history, retry_progress);
                }
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        self.decide(FailureSource::Body, kept, self.end_call())
    }

    /// Runs `kept` and continues if a retry follows. Otherwise runs `ended`.
    pub(crate) fn decide(&self, failed: FailureSource, kept: Option<Code>, ended: Code) -> Code {
        let has_error = failed.has_error();
        let has_reason = self.model.needs_reason() && has_error;
        let retry = ours! {
            #kept
            #?(has_reason) { __retry::Attempt::paused(&mut retry_history, retry_pause); }
            #(self.save_failure(has_error))
            #(self.continue_loop())
        };
        ours! {
            #(self.driven_decision(failed))
            #?(has_reason) {
                match retry_decision {
                    __retry::Ok(retry_pause) => { #retry }
                    __retry::Err(retry_reason) => { #ended }
                }
            }
            #?(!has_reason) { if __retry::Result::is_ok(&retry_decision) { #retry } #ended }
        }
    }

    /// Binds the function that computes delays.
    pub(crate) fn delays(&self) -> Option<Code> {
        let delays = self.model.delays()?;
        let delays = ours_at!(delays.span()=> __retry::delays(#(self.user_expr(delays))));
        Some(ours!(let mut retry_delays = #delays;))
    }

    /// Code that classifies the failure, and the verdict. A policy that is not constant is read afterwards, because
    /// the classifying function may change it.
    pub(crate) fn classification(&self, failed: FailureSource) -> (Option<Code>, Code) {
        let mut verdict = self.failure_verdict(failed);
        if failed == FailureSource::Body && self.model.has(&[Key::Hedge]) {
            // With `hedge`, the failure may already be classified.
            verdict = ours! {
                match retry_verdict {
                    __retry::Some(retry_verdict) => retry_verdict,
                    __retry::None => #verdict,
                }
            };
        }
        if let (Policy::Constant(_), _) | (_, FailureSource::Until) = (&self.model.policy, failed) {
            return (None, verdict);
        }
        let asked = ours!(let retry_asked = #verdict;);
        (Some(asked), ours!(retry_asked))
    }

    /// The verdict. If `give_up` or `fallback` may read it, also stores it in the history.
    pub(crate) fn verdict(&self, verdict: &Code) -> Code {
        if self.model.needs_reason() {
            ours!(__retry::Attempt::judged(&retry_history, #verdict))
        } else {
            verdict.clone()
        }
    }

    /// Classifies a failure.
    pub(crate) fn failure_verdict(&self, failed: FailureSource) -> Code {
        let verdict = match (failed, self.model.expr(Key::On)) {
            (FailureSource::Until, _) => return ours!(__retry::Verdict::UNTIL),
            // The compiler would require `Classify` of a type that isn't inferred yet, but with `on` the type need not
            // implement it.
            (FailureSource::Validation, Some(_)) if outcome::is_inferred(&self.model.err_type) => {
                return ours!(__retry::Verdict::INVALID);
            }
            (FailureSource::Validation, _) => {
                let (error, shown) = (self.error(), self.error_of_type());
                return ours!(__retry::invalid::<#error>(#shown).__retry_verdict());
            }
            (FailureSource::Body, Some(on)) => return self.verdict_of_on(on),
            (FailureSource::Body, None) => {
                ours_at!(self.model.error_span=> __retry::classify(&retry_error))
            }
        };
        self.adjusted_verdict(&verdict, verdict.clone())
    }

    /// Adjusts the verdict if a timeout dropped the attempt, or if the attempt yielded items.
    fn adjusted_verdict(&self, answer: &Code, verdict: Code) -> Code {
        let verdict = if self.model.can_drop_attempts() {
            ours!(__retry::of_attempt(#answer, retry_dropped))
        } else {
            verdict
        };
        if self.model.yielding_is_ambiguous() {
            ours!(__retry::of_stream(#verdict, retry_yielded))
        } else {
            verdict
        }
    }

    /// The verdict of `on`. Checks that its return type is sufficient for the other keys.
    fn verdict_of_on(&self, on: &Expr) -> Code {
        let span = on.span();
        let answer = ours_at!(span=> __retry::answer(&retry_error, #(self.user_fn(on))));
        let answer = Self::isolate(on, answer);
        let needs = self.model.arguments.requirements_of_on();
        let checked = needs.fold(answer, |answer, key| {
            let key = Ident::new(key.name(), span);
            ours_at!(span=> __retry::required::#key::checked(#answer))
        });
        let verdict = ours!(__retry::IntoVerdict::into_verdict(#checked));
        let verdict = self.adjusted_verdict(&checked, verdict);
        match self.attempt_for(Key::On) {
            Some(attempt) => ours!({ #attempt #verdict }),
            None => verdict,
        }
    }

    /// Details that keys require about a failure or a slow attempt, besides the verdict.
    pub(crate) fn details(&self) -> Code {
        let idempotent = self.model.arguments.get(Key::Idempotent);
        ours! {
            #?(self.model.has(&[Key::Cancel])) { .cancelled(retry_cancelled) }
            #(idempotent.map(|idempotent| ours!(.idempotent(#(self.argument(idempotent))))))
        }
    }

    /// Details that only the decision after a failure requires, in addition to [`Self::details`].
    pub(crate) fn options(&self, failed: FailureSource) -> Code {
        let model = self.model;
        let has_error = failed.has_error();
        let is_corrected = failed == FailureSource::Validation && model.has(&[Key::Correct]);
        let repeated = self.is_repeated().filter(|_| has_error);
        // The last attempt has consumed the arguments, even if the limit has grown since. A correction doesn't use
        // them.
        let is_last_known = model.moves_arguments() && !is_corrected;
        let is_forgotten = match failed {
            FailureSource::Until => !model.keeps_values(),
            FailureSource::Validation if model.has(&[Key::Correct]) => false,
            _ => !model.may_stop(self.is_async),
        };
        let validates = model.has(&[Key::Validate]) && !is_corrected;
        ours! {
            #(self.details())
            #?(model.has(&[Key::Hedge])) { .pushback(&mut retry_pushback) }
            #(repeated.map(|repeated| ours!(.repeated(#repeated))))
            #?(is_last_known) { .last(retry_last) }
            #?(model.delays().is_some()) { .delays(&mut retry_delays) }
            #?(is_corrected) { .correctable() }
            #?(validates) { .validates() }
            #?(model.has(&[Key::Fallback]) && has_error) { .ends_with(#(self.ending())) }
            #?(is_forgotten) { .forgotten() }
        }
    }

    /// Code that is true if `retry_error` was repeated too often, for the key `repeats`.
    pub(crate) fn is_repeated(&self) -> Option<Code> {
        let model = self.model;
        let repeats = self.isolated(model.expr(Key::Repeats)?);
        let same = ours_at! {model.error_span=>
            __retry::same(retry_one).__retry_same(retry_other)
        };
        Some(ours! {
            __retry::is_repeated(&mut retry_history, &retry_error, #repeats, |retry_one, retry_other| #same)
        })
    }

    /// True if a local variable keeps the error of a failed attempt.
    pub(crate) fn keeps_error(&self) -> bool {
        self.model.history.is_none() && self.model.may_stop(self.is_async)
    }

    /// Saves the error or the rejected value, in case the call ends before its next attempt.
    fn save_failure(&self, has_error: bool) -> Code {
        let error = if_else(has_error, ours!(Some(retry_error)), ours!(None));
        let value = if_else(has_error, ours!(None), ours!(Some(retry_outcome)));
        ours! {
            #?(self.keeps_error()) { retry_failed = __retry::#error; }
            #?(self.model.keeps_values()) { retry_returned = __retry::#value; }
        }
    }

    /// The error of the last attempt, of type `Option<_>`. Errors about its type point at `span`.
    pub(crate) fn last_error(&self, span: Span) -> Code {
        if_else(
            self.keeps_error(),
            ours_at!(span=> retry_failed),
            ours_at!(span=> __retry::Attempt::take_last_failure(&mut retry_history)),
        )
    }
}
