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

    /// If a retry follows, runs `kept` and goes on to it. If not, runs `ended`.
    pub(crate) fn decided(&self, failed: FailureSource, kept: Option<Code>, ended: Code) -> Code {
        let has_error = failed.has_error();
        if !self.model.is_driven() {
            return ours! {
                if let __retry::Some(retry_pause) = #(self.plain_decision(failed)) {
                    retry_call = retry_call.next();
                    #kept
                    break 'retry_pause retry_pause;
                }
                #ended
            };
        }
        let has_reason = self.model.tells_reason() && has_error;
        let failed_with = if has_error {
            self.failed_with_error()
        } else {
            self.failed_without_error()
        };
        let retry = ours! {
            #kept
            #?(has_reason) { __retry::Attempt::paused(&mut retry_history, retry_pause); }
            #failed_with
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

    /// The decision where it needs no more than the count, the policy and the verdict. In a cold
    /// closure, as in [`Self::driven_decision`].
    fn plain_decision(&self, failed: FailureSource) -> Code {
        let shown = self.shown_after(failed);
        let policy = self.policy();
        let verdict = self.verdict(&self.asked_verdict(failed));
        let site = self.site(&policy);
        let failed = ours!(retry_call.failed_plainly(#site, #verdict, #shown));
        match self.model.decision {
            // Handed on, or the closure would keep a reference to it.
            Decider::Simple => ours!(__retry::cold_at(#site, |#site| #failed)),
            _ => ours!(__retry::cold(|| #failed)),
        }
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
        let mut needs = self.model.arguments.what_on_must_say().peekable();
        if needs.peek().is_none() {
            return seen(ours!(__retry::IntoVerdict::into_verdict(#answer)));
        }
        let checks = Code::new();
        for key in needs {
            let key = Ident::new(key.name(), span);
            checks.add(ours_at!(span=> let retry_said = __retry::says::#key::said(retry_said);));
        }
        seen(ours!({
            let retry_said = #answer;
            #checks
            __retry::IntoVerdict::into_verdict(retry_said)
        }))
    }
}
