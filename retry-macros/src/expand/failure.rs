//! What follows a failure.

use proc_macro2::Ident;
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::model::{Decider, History, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at};

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

    /// If a retry follows, runs `kept` and leaves with the pause. If not, runs `ended`.
    pub(crate) fn decided(&self, failed: FailureSource, kept: Option<Code>, ended: Code) -> Code {
        let Decided {
            before,
            decision,
            retried,
            counted,
        } = self.decision(failed);
        let failed_with = if failed.has_error() {
            self.failed_with_error()
        } else {
            self.failed_without_error()
        };
        let paused = self.paused();
        let has_reason = self.reason().is_some() && failed.has_error();
        let leave = ours! {
            #counted
            #kept
            #?(has_reason) {
                __retry::Attempt::paused(&mut retry_history, retry_pause #?(self.model.is_paid()) { .0 });
            }
            #failed_with
            break 'retry_pause #paused;
        };
        let ended = self.without_cancel(ended);
        match self.reason() {
            Some(reason) if failed.has_error() => ours! {
                #before
                match #decision {
                    #retried => { #leave }
                    __retry::Err(#reason) => { #ended }
                }
            },
            _ => ours! {
                #before
                if let #retried = #decision {
                    #leave
                }
                #ended
            },
        }
    }

    /// The pause after a failure, or why there is none.
    ///
    /// Computed in a cold closure, so that code used only here stays out of the way of a call that succeeds: the
    /// compiler turns the closure into a function. It also keeps `return`, `?` and `.await` in keys from acting on the
    /// function.
    pub(crate) fn decision(&self, failed: FailureSource) -> Decided {
        let shown = self.shown_after(failed);
        let (timer, cancel) = match (failed, self.model.is_corrected()) {
            // In a loop of corrections, each failure binds its own.
            (FailureSource::Validation, true) => {
                let timer = self.timer_assignment().map(|assigned| ours!(let #assigned));
                (timer, self.cancel())
            }
            _ if self.model.rejects_values() => (None, None),
            _ => (self.timer_assignment(), self.cancel()),
        };
        if self.model.decision != Decider::Full {
            return self.plain_decision(failed, timer, &shown);
        }
        let (budget, paid) = self.paid();
        let delays = self.delays();
        let (asked, verdict) = self.asked_first(failed);
        let mut decide = |policy: Code| {
            let verdict = self.verdict(&verdict);
            let site = self.site(&policy);
            ours! {
                #(self.restart(&policy))
                #(self.deadline_of_choice(&policy))
                // Bound to a name, so that no edition's rules keep a borrow of the error alive.
                #[allow(clippy::let_and_return)]
                let retry_decision = #(self.call())::failed_with(
                    &mut retry_next,
                    __retry::Failure::new(#site, #verdict, #shown)#(self.options(failed)),
                );
                #(self.last_after_failure(&policy))
                #paid
                retry_decision
            }
        };
        // Evaluated once for each failure.
        let asks_again = self.model.gives_away() || self.model.resumes();
        let decide = if asks_again || self.model.chooses_policy() {
            self.with_policy(&mut decide)
        } else {
            decide(self.policy())
        };
        Decided {
            before: ours! {
                #timer
                #cancel
                // A copy, so that the count itself need not be in memory for the closure to borrow.
                let mut retry_next = retry_call;
                let retry_decision = __retry::cold(|| {
                    #(self.observer())
                    #budget
                    #delays
                    #asked
                    #decide
                });
                retry_call = retry_next;
            },
            decision: ours!(retry_decision),
            retried: ours!(__retry::Ok(retry_pause)),
            counted: None,
        }
    }

    /// Binds what computes delays.
    pub(crate) fn delays(&self) -> Option<Code> {
        let delays = self.model.delays()?;
        let delays = ours_at!(delays.span()=> __retry::delays(#(self.user(delays))));
        Some(ours!(let mut retry_delays = #delays;))
    }

    /// The decision where it needs no more than the count, the policy and the verdict.
    fn plain_decision(&self, failed: FailureSource, timer: Option<Code>, shown: &Code) -> Decided {
        let policy = self.policy();
        let verdict = self.verdict(&self.asked_verdict(failed));
        let site = self.site(&policy);
        let failed = ours!(retry_call.failed_plainly(#site, #verdict, #shown));
        Decided {
            before: timer.unwrap_or_default(),
            decision: match self.model.decision {
                // Handed on, or the closure would keep a reference to it.
                Decider::Simple => ours!(__retry::cold_at(#site, |#site| #failed)),
                _ => ours!(__retry::cold(|| #failed)),
            },
            retried: ours!(__retry::Some(retry_pause)),
            counted: Some(ours!(retry_call = retry_call.next();)),
        }
    }

    /// What asks for the verdict, and the verdict. A policy that is not constant is read after it, since what classifies
    /// may set it.
    fn asked_first(&self, failed: FailureSource) -> (Option<Code>, Code) {
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
    fn verdict(&self, verdict: &Code) -> Code {
        match self.reason() {
            Some(_) => ours!(__retry::Attempt::judged(&retry_history, #verdict)),
            None => verdict.clone(),
        }
    }

    /// The verdict on a failure that has none yet.
    pub(crate) fn asked_verdict(&self, failed: FailureSource) -> Code {
        let verdict = match (failed, self.model.expr(Key::On)) {
            (FailureSource::Until, _) => return ours!(__retry::Verdict::UNTIL),
            (FailureSource::Validation, _) => return self.complaint(),
            (FailureSource::Body, Some(on)) => self.said(on),
            (FailureSource::Body, None) => {
                ours_at!(self.model.error_span=> __retry::classify(&retry_error))
            }
        };
        let verdict = if self.model.may_drop() {
            ours!(__retry::of_attempt(#verdict, retry_dropped))
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
        let needs = self.model.arguments.what_on_must_say();
        let said = needs.fold(answer, |answer, key| {
            let key = Ident::new(key.name(), span);
            ours_at!(span=> __retry::says::#key::said(#answer))
        });
        seen(ours!(__retry::IntoVerdict::into_verdict(#said)))
    }
}

/// A decision, as code.
pub(crate) struct Decided {
    /// Statements before it.
    pub(crate) before: Code,
    pub(crate) decision: Code,
    /// The pattern for a retry, which binds `retry_pause`.
    pub(crate) retried: Code,
    /// What counts the retry, where the decision has not.
    counted: Option<Code>,
}
