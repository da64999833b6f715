//! What follows a failure.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::model::{History, Late, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

/// What failed.
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
    /// Whether there is an error to show, to keep and to end with.
    pub(crate) fn has_error(self) -> bool {
        self != Self::Until
    }
}

impl Printer<'_> {
    /// What follows an attempt that came to `Err(retry_error)`.
    pub(crate) fn rejected(&self) -> Code {
        let kept = self.model.history.map(|history| {
            ours! {
                #?(history == History::Items) {
                    __retry::stream::resume::keep(&mut retry_history, retry_progress);
                }
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        self.decided(FailureSource::Body, kept, self.ended())
    }

    /// If a retry follows, runs `kept` and goes on to it. If not, runs `ended`.
    pub(crate) fn decided(&self, failed: FailureSource, kept: Option<Code>, ended: Code) -> Code {
        let has_error = failed.has_error();
        let has_reason = self.model.tells_reason() && has_error;
        let retry = ours! {
            #kept
            #?(has_reason) { __retry::Attempt::paused(&mut retry_history, retry_pause); }
            #(self.left_behind(has_error))
            #(self.goes_on())
        };
        if !has_reason {
            return ours! {
                #(self.driven_decision(failed))
                if __retry::Result::is_ok(&retry_decision) {
                    #retry
                }
                #ended
            };
        }
        ours! {
            #(self.driven_decision(failed))
            match retry_decision {
                __retry::Ok(retry_pause) => { #retry }
                __retry::Err(retry_reason) => { #ended }
            }
        }
    }

    /// Binds what computes delays.
    pub(crate) fn delays(&self) -> Option<Code> {
        let delays = self.model.delays()?;
        let delays = ours_at!(delays.span()=> __retry::delays(#(self.user(delays))));
        Some(ours!(let mut retry_delays = #delays;))
    }

    /// What asks for the verdict, and the verdict. A policy that is not constant is read after it, since what classifies
    /// may set it.
    pub(crate) fn asked_first(&self, failed: FailureSource) -> (Option<Code>, Code) {
        let verdict = self.asked_verdict(failed);
        let verdict = match failed {
            FailureSource::Body => self.last_verdict(verdict),
            FailureSource::Until | FailureSource::Validation => verdict,
        };
        if let (Policy::Constant(_), _) | (_, FailureSource::Until) = (&self.model.policy, failed) {
            return (None, verdict);
        }
        let asked = ours!(let retry_asked = #verdict;);
        (Some(asked), ours!(retry_asked))
    }

    /// The code of a verdict, which what ends the call may ask for.
    pub(crate) fn verdict(&self, verdict: &Code) -> Code {
        if self.model.tells_reason() {
            ours!(__retry::Attempt::judged(&retry_history, #verdict))
        } else {
            verdict.clone()
        }
    }

    /// The verdict on a failure that has none yet.
    pub(crate) fn asked_verdict(&self, failed: FailureSource) -> Code {
        let verdict = match (failed, self.model.expr(Key::On)) {
            (FailureSource::Until, _) => return ours!(__retry::Verdict::UNTIL),
            (FailureSource::Validation, _) => return self.complaint(),
            (FailureSource::Body, Some(on)) => return self.said(on),
            (FailureSource::Body, None) => {
                ours_at!(self.model.error_span=> __retry::classify(&retry_error))
            }
        };
        self.of_attempt(&verdict, verdict.clone())
    }

    /// The verdict in the light of how the attempt ended: by an answer, if the attempt may be dropped.
    fn of_attempt(&self, answer: &Code, verdict: Code) -> Code {
        let verdict = if self.model.may_drop() {
            ours!(__retry::of_attempt(#answer, retry_dropped))
        } else {
            verdict
        };
        if self.model.minds_items() {
            ours!(__retry::of_stream(#verdict, retry_yielded))
        } else {
            verdict
        }
    }

    /// The verdict of the key `on`, whose type must say what the keys beside it need.
    fn said(&self, on: &Expr) -> Code {
        let span = on.span();
        let attempt = self.attempt_for(Key::On);
        let seen = |said| match &attempt {
            Some(attempt) => ours!({ #attempt #said }),
            None => said,
        };
        let answer = ours_at!(span=> __retry::answer(&retry_error, #(self.user(on))));
        let answer = Self::contained(on, answer);
        let mut needs = self.model.arguments.what_on_must_say().peekable();
        if needs.peek().is_none() {
            let verdict = ours!(__retry::IntoVerdict::into_verdict(#answer));
            return seen(self.of_attempt(&answer, verdict));
        }
        let mut checks = Code::new();
        for key in needs {
            let key = Ident::new(key.name(), span);
            checks.extend(ours_at!(span=> let retry_said = __retry::says::#key::said(retry_said);));
        }
        let said = ours!(retry_said);
        let verdict = ours!(__retry::IntoVerdict::into_verdict(retry_said));
        seen(ours!({
            let retry_said = #answer;
            #checks
            #(self.of_attempt(&said, verdict))
        }))
    }

    /// The details of a failure, or of an attempt that is slow, beyond its verdict, as far as keys need them.
    pub(crate) fn details(&self) -> Code {
        let idempotent = self.model.arguments.get(Key::Idempotent);
        ours! {
            #?(self.model.is_cancellable()) { .cancelled(retry_cancelled) }
            #(idempotent.map(|idempotent| ours!(.idempotent(#(self.argument(idempotent))))))
        }
    }

    /// The details of a rejected attempt. It took no effect, so idempotency is left out.
    pub(crate) fn details_of_rejection(&self) -> Code {
        ours! {
            #?(self.model.is_cancellable()) { .cancelled(retry_cancelled) }
            #?(self.model.delays().is_some()) { .delays(&mut retry_delays) }
        }
    }

    /// The details of a failure that only the decision after it needs, beside those of [`Self::details`].
    pub(crate) fn options(&self, failed: FailureSource) -> Code {
        let model = self.model;
        let has_error = failed.has_error();
        let is_corrected = failed == FailureSource::Validation && model.is_corrected();
        let repeated = self.repeated().filter(|_| has_error);
        // The last attempt took the arguments, even if the limit has grown since. A correction needs none.
        let is_last_known = model.gives_away() && !is_corrected;
        let is_forgotten = match failed {
            FailureSource::Until => !model.keeps_values(),
            FailureSource::Validation if model.is_corrected() => false,
            _ => model.late(self.asyncness).is_none(),
        };
        let validates = model.is_validated() && !is_corrected;
        ours! {
            #(self.details())
            #?(model.is_hedged()) { .pushback(&mut retry_pushback) }
            #(repeated.map(|repeated| ours!(.repeated(#repeated))))
            #?(is_last_known) { .last(retry_last) }
            #?(model.delays().is_some()) { .delays(&mut retry_delays) }
            #?(is_corrected) { .correctable() }
            #?(validates) { .validates() }
            #?(model.falls_back() && has_error) { .falls_back() }
            #?(is_forgotten) { .forgotten() }
        }
    }

    /// Whether `retry_error` came too often in a row, where the attribute asks for that.
    pub(crate) fn repeated(&self) -> Option<Code> {
        let model = self.model;
        let repeats = self.kept(model.expr(Key::Repeats)?);
        let same = ours_at! {model.error_span=>
            __retry::same(retry_one).__retry_same(retry_other)
        };
        Some(ours! {
            __retry::is_repeated(&mut retry_history, &retry_error, #repeats, |retry_one, retry_other| #same)
        })
    }

    /// Declares what a failure leaves behind for a call that ends before its next attempt.
    pub(crate) fn failed_declaration(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { let mut retry_failed = __retry::None; }
            #?(self.model.keeps_values()) { let mut retry_returned = __retry::None; }
        }
    }

    /// Drops that as the next attempt begins.
    pub(crate) fn failed_drop(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { __retry::drop(retry_failed); }
            #?(self.model.keeps_values()) { __retry::drop(retry_returned); }
        }
    }

    fn keeps_error(&self) -> bool {
        self.model.late(self.asyncness) == Some(Late::FromLocal)
    }

    /// Keeps the error to end with, or the value that was rejected if there is none.
    fn left_behind(&self, has_error: bool) -> Code {
        let error = if_else(has_error, ours!(Some(retry_error)), ours!(None));
        let value = if_else(has_error, ours!(None), ours!(Some(retry_outcome)));
        ours! {
            #?(self.keeps_error()) { retry_failed = __retry::#error; }
            #?(self.model.keeps_values()) { retry_returned = __retry::#value; }
        }
    }

    /// The error that the last attempt left, of type `Option<_>`. What the compiler says of its type points there.
    pub(crate) fn last_error(&self, span: Span) -> Option<Code> {
        Some(match self.model.late(self.asyncness)? {
            Late::FromHistory => {
                ours_at!(span=> __retry::Attempt::take_last_failure(&mut retry_history))
            }
            Late::FromLocal => ours_at!(span=> retry_failed),
        })
    }
}
