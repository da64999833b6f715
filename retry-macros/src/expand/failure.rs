//! What follows a failure.

use proc_macro2::{Ident, TokenStream};
use quote::{TokenStreamExt, quote};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::model::{Decision, History};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{ours, ours_at};

/// What failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The body returned an error.
    Body,
    /// `until` rejected the value; there is no error.
    Until,
    /// `validate` rejected the value with an error.
    Validation,
}

impl Printer<'_> {
    /// After an `Err(retry_error)`.
    pub(crate) fn rejected(&self) -> TokenStream {
        let kept = self.model.history.map(|history| {
            let items = (history == History::Items)
                .then(|| ours!(__retry::stream::resume::keep(&mut retry_history, retry_progress);));
            ours! {
                #items
                __retry::failed(&mut retry_history, retry_error);
            }
        });
        self.decided(Failed::Body, kept, self.ended())
    }

    /// If a retry follows, runs `kept` and leaves with the pause. If not, runs `ended`.
    pub(crate) fn decided(
        &self,
        failed: Failed,
        kept: Option<TokenStream>,
        ended: TokenStream,
    ) -> TokenStream {
        let Decided {
            before,
            decision,
            retried,
            counted,
        } = self.decision(failed);
        let failed_with = match failed {
            Failed::Until => self.failed_without_error(&ended),
            Failed::Body | Failed::Validation => self.failed_with_error(),
        };
        let paused = self.paused();
        let noted = (self.reason().is_some() && failed != Failed::Until)
            .then(|| ours!(__retry::paused(&mut retry_history, &retry_pause);));
        let leave = ours! {
            #counted
            #kept
            #noted
            #failed_with
            break 'retry_pause #paused;
        };
        let ended = self.without_cancel(ended);
        match self.reason() {
            Some(reason) if failed != Failed::Until => ours! {
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

    /// What [`Self::ended`] calls the reason, if it needs it.
    pub(crate) fn reason(&self) -> Option<TokenStream> {
        let is_told = self.model.has(&[Key::GiveUp, Key::Fallback]);
        is_told.then(|| ours!(retry_reason))
    }

    /// Ends the call with `retry_error`, and with `retry_reason` if the ending uses it.
    pub(crate) fn ended(&self) -> TokenStream {
        let tick = self.reason().and_then(|_| self.tick());
        let outcome = self.outcome_of_failure();
        ours! {
            #tick
            retry_outcome = #outcome;
        }
    }

    /// What a call that ends with `retry_error` returns.
    pub(crate) fn outcome_of_failure(&self) -> TokenStream {
        let gave_up = ours!(__retry::gave_up(retry_history, retry_error, retry_reason));
        let endings = (self.model.expr(Key::GiveUp), self.model.expr(Key::Fallback));
        match endings {
            (None, None) => ours!(__retry::Err(retry_error)),
            (Some(give_up), _) => {
                let place = give_up.span();
                let give_up = self.user(give_up);
                let shaped = ours_at!(place=> __retry::shape(#gave_up, #give_up));
                ours!(__retry::Err(#shaped))
            }
            (None, Some(fallback)) => self.fallen(fallback, &gave_up),
        }
    }

    /// What the fallback makes of the call.
    fn fallen(&self, fallback: &Expr, gave_up: &TokenStream) -> TokenStream {
        let place = fallback.span();
        let fallback = self.user(fallback);
        // In a block, so that an outcome of the wrong type is not explained by an assignment that nobody wrote.
        let fallen = match self.asyncness {
            Asyncness::Async => ours_at!(place=> { __retry::fall_back(#gave_up, #fallback).await }),
            Asyncness::Blocking => {
                ours_at!(place=> { __retry::fall_back_blocking(#gave_up, #fallback) })
            }
        };
        let told = self.fallback_told();
        #[cfg(feature = "stream")]
        let stream = self
            .model
            .stream
            .as_ref()
            .map(|stream| self.read_fallen(stream, place));
        #[cfg(not(feature = "stream"))]
        let stream: Option<TokenStream> = None;
        let error = self.error();
        let value = match stream {
            Some(_) => ours!(_),
            None => self.value(),
        };
        let fallen = ours_at!(place=> let retry_fallen: __retry::Result<#value, #error> = #fallen;);
        let fallen_type = self.error_type_of(&ours!(retry_fallen));
        ours! {
            {
                // Not of what the fallback takes: what is borrowed stays in the future.
                let retry_attempts = __retry::attempts(&retry_history);
                #fallen
                #fallen_type
                #stream
                #told
                retry_fallen
            }
        }
    }

    /// Tells how the fallback ended.
    fn fallback_told(&self) -> TokenStream {
        let (call, name) = (self.whole_call(), self.name());
        let observer = self.observer();
        let observe = self.observe();
        ours! {
            {
                #observer
                match &retry_fallen {
                    __retry::Ok(_) => __retry::fell_back(#call, #name, retry_attempts, #observe),
                    __retry::Err(retry_error) => __retry::fallback_failed(
                        #call,
                        #name,
                        retry_attempts,
                        __retry::show(retry_error).__retry_show(),
                        #observe,
                    ),
                }
            }
        }
    }

    /// The text of `retry_error`. Where another function than the body may have made it, its type is told, since how
    /// it is shown depends on that.
    pub(crate) fn shown(&self) -> TokenStream {
        let error = self.model.has(&[Key::Validate]).then(|| self.error());
        let of = error.map(|error| quote!(::<#error>));
        let error = self.error_of_type();
        let show = self.show();
        ours!(#show #of(#error).__retry_show())
    }

    /// The pause after a failure, or why there is none.
    ///
    /// Computed in a cold closure, so that code used only here stays out of the way of a call that succeeds: the
    /// compiler turns the closure into a function. It also keeps `return`, `?` and `.await` in keys from acting on the
    /// function.
    pub(crate) fn decision(&self, failed: Failed) -> Decided {
        let call = self.call();
        let shown = match failed {
            Failed::Until => ours!(&__retry::REJECTED_VALUE),
            Failed::Body | Failed::Validation => self.shown(),
        };
        let (timer, cancel) = match (failed, self.model.has(&[Key::Correct])) {
            // In a loop of corrections, each failure binds its own.
            (Failed::Validation, true) => {
                let timer = self.timer_assignment().map(|assigned| ours!(let #assigned));
                (timer, self.cancel())
            }
            _ if self.model.gathers_failures() => (None, None),
            _ => (self.timer_assignment(), self.cancel()),
        };
        if self.model.decision != Decision::Full {
            let policy = self.policy();
            let verdict = self.verdict(failed, &policy);
            let site = self.site(&policy);
            let failed = ours!(retry_call.failed_plainly(#site, #verdict, #shown));
            let decision = match self.model.decision {
                // Handed on, or the closure would keep a reference to it.
                Decision::Simple => ours!(__retry::cold_at(#site, |#site| #failed)),
                _ => ours!(__retry::cold(|| #failed)),
            };
            return Decided {
                before: ours!(#timer),
                decision,
                retried: ours!(__retry::Some(retry_pause)),
                counted: Some(ours!(retry_call = retry_call.next();)),
            };
        }
        let options = self.options(failed);
        let observer = self.observer();
        let (budget, paid) = self.paid();
        let delays = self.model.delays().map(|delays| {
            let place = delays.span();
            let delays = self.user(delays);
            let delays = ours_at!(place=> __retry::delays(#delays));
            ours!(let mut retry_delays = #delays;)
        });
        let decide = |policy: TokenStream| {
            let verdict = self.verdict(failed, &policy);
            let (verdict, bound) = match paid {
                Some(_) => (
                    ours!(retry_verdict),
                    Some(ours!(let retry_verdict = #verdict;)),
                ),
                None => (verdict, None),
            };
            let site = self.site(&policy);
            let last = self.last_after_failure(&policy);
            let restart = self.restart(&policy);
            ours! {
                #restart
                #bound
                // Bound to a name, so that no edition's rules keep a borrow of the error alive.
                #[allow(clippy::let_and_return)]
                let retry_decision = #call::failed_with(
                    &mut retry_next,
                    __retry::Failure::new(#site, #verdict, #shown)#options,
                );
                #last
                #paid
                retry_decision
            }
        };
        let is_asked = failed == Failed::Body && self.model.may_be_off();
        let decide = if is_asked || !self.owned().is_empty() {
            self.with_policy(decide)
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
                    #observer
                    #budget
                    #delays
                    #decide
                });
                retry_call = retry_next;
            },
            decision: ours!(retry_decision),
            retried: ours!(__retry::Ok(retry_pause)),
            counted: None,
        }
    }

    /// Binds what pays for a retry, and adds what it paid to the decision.
    fn paid(&self) -> (Option<TokenStream>, Option<TokenStream>) {
        let Some(budget) = self.budget() else {
            return (None, None);
        };
        let paid = match self.model.arguments.get(Key::Limiter) {
            Some(_) => ours!(__retry::paid_beside_limiter),
            None => ours!(__retry::paid),
        };
        (
            Some(budget),
            Some(ours! {
                let retry_decision = __retry::Result::map(
                    retry_decision,
                    |retry_pause| (retry_pause, #paid(retry_budget, retry_verdict)),
                );
            }),
        )
    }

    /// The verdict under that policy, of type `&Policy`.
    fn verdict(&self, failed: Failed, policy: &TokenStream) -> TokenStream {
        let verdict = self.asked_verdict(failed, policy);
        let verdict = match failed {
            Failed::Body => self.last_verdict(verdict),
            Failed::Until | Failed::Validation => verdict,
        };
        match self.reason() {
            Some(_) => ours!(__retry::judged(&retry_history, #verdict)),
            None => verdict,
        }
    }

    /// The same, asked for anew. Where there are no retries, nobody is asked.
    pub(crate) fn asked_verdict(&self, failed: Failed, policy: &TokenStream) -> TokenStream {
        let verdict = match (failed, self.model.expr(Key::On)) {
            (Failed::Until, _) => return ours!(__retry::Verdict::TRANSIENT),
            (Failed::Validation, _) => return ours!(__retry::Verdict::INVALID),
            (Failed::Body, Some(on)) => self.said(on),
            (Failed::Body, None) => {
                ours_at!(self.model.error_span=> __retry::classify(&retry_error))
            }
        };
        let verdict = match self.model.arguments.get(Key::Timeout) {
            Some(_) => ours!(__retry::of_attempt(#verdict, retry_dropped)),
            None => verdict,
        };
        let verdict = if self.model.minds_items() {
            ours!(__retry::of_stream(#verdict, retry_yielded))
        } else {
            verdict
        };
        if !self.model.may_be_off() {
            return verdict;
        }
        ours! {
            if __retry::is_enabled(#policy) {
                #verdict
            } else {
                __retry::Verdict::STOP
            }
        }
    }

    /// The verdict of the key `on`, whose type must say what the keys beside it need.
    fn said(&self, on: &Expr) -> TokenStream {
        let place = on.span();
        let on = self.user(on);
        let mut needs = self.model.arguments.what_on_must_say().peekable();
        if needs.peek().is_none() {
            return ours_at!(place=> __retry::verdict(&retry_error, #on));
        }
        let answer = ours_at!(place=> __retry::answer(&retry_error, #on));
        let said = needs.fold(answer, |answer, key| {
            let key = Ident::new(key.name(), place);
            ours_at!(place=> __retry::says::#key::said(#answer))
        });
        ours!(__retry::IntoVerdict::into_verdict(#said))
    }

    /// The details of a failure, or of an attempt that is slow, beyond its verdict, as far as keys need them.
    pub(crate) fn details(&self, now: &TokenStream) -> TokenStream {
        let model = self.model;
        let mut details = TokenStream::new();
        if model.deadline.is_some() {
            details.append_all(ours!(.deadline(retry_deadline, #now)));
        }
        if let Some(idempotent) = model.arguments.get(Key::Idempotent) {
            let idempotent = self.argument(idempotent);
            details.append_all(ours!(.idempotent(#idempotent)));
        }
        if let Some(cancelled) = self.cancelled() {
            details.append_all(ours!(.cancelled(#cancelled)));
        }
        if model.has(&[Key::Budget]) {
            details.append_all(ours!(.budget(&retry_budget)));
        }
        if model.has(&[Key::Observe]) {
            details.append_all(ours!(.observe(&mut retry_observer)));
        }
        details
    }

    /// Binds what an async call asks with whether it is cancelled.
    pub(crate) fn waker(&self) -> Option<TokenStream> {
        let asks = self.asyncness == Asyncness::Async && self.model.has(&[Key::Cancel]);
        asks.then(|| ours!(let retry_waker = __retry::waker().await;))
    }

    /// Whether what [`Self::cancel`] bound has cancelled the call.
    pub(crate) fn cancelled(&self) -> Option<TokenStream> {
        let is_cancellable = self.model.has(&[Key::Cancel]);
        is_cancellable.then(|| match self.asyncness {
            // Asked while attempts run, and again after the failure of the last: a future must not be polled after its end.
            Asyncness::Async if self.model.has(&[Key::Hedge]) => {
                ours!(__retry::has_come(
                    &mut retry_came,
                    &mut retry_cancel,
                    &retry_waker
                ))
            }
            Asyncness::Async => ours!(__retry::is_cancelled(&mut retry_cancel, &retry_waker)),
            Asyncness::Blocking => ours!(__retry::is_cancelled_blocking(&retry_cancel)),
        })
    }

    /// Whether `retry_error` came too often in a row, where the attribute asks for that.
    pub(crate) fn repeated(&self) -> Option<TokenStream> {
        let model = self.model;
        let repeats = self.user(model.expr(Key::Repeats)?);
        let same = ours_at! {model.error_span=>
            (&&&__retry::Same(retry_one)).__retry_same(retry_other)
        };
        Some(ours! {
            __retry::is_repeated(&mut retry_history, &retry_error, #repeats, |retry_one, retry_other| {
                use __retry::{SameDebug as _, SameDisplay as _, SameValue as _};
                #same
            })
        })
    }

    /// The details of the failure beyond its verdict, as far as keys need them.
    fn options(&self, failed: Failed) -> TokenStream {
        let model = self.model;
        let mut options = self.details(&self.now_after_failure());
        if model.has(&[Key::Hedge]) {
            options.append_all(ours!(.pushback(&mut retry_pushback)));
        }
        if let Some(repeated) = self.repeated().filter(|_| failed != Failed::Until) {
            // An item in between ends the row.
            let stands = (model.history == Some(History::Items))
                .then(|| ours!(__retry::stream::resume::is_without_items(&retry_progress) &&));
            options.append_all(ours!(.repeated(#stands #repeated)));
        }
        if model.has(&[Key::Breaker]) && failed == Failed::Body {
            options.append_all(ours!(.permit(&mut retry_permit)));
        }
        if model.has(&[Key::Limiter]) && failed == Failed::Body {
            options.append_all(ours!(.place(&mut retry_place)));
        }
        let is_corrected = failed == Failed::Validation && model.has(&[Key::Correct]);
        // The last attempt took the arguments, even if the limit has grown since. A correction needs none.
        if !self.owned().is_empty() && !is_corrected {
            options.append_all(ours!(.last(retry_last)));
        }
        if model.delays().is_some() {
            options.append_all(ours!(.delays(&mut retry_delays)));
        }
        if is_corrected {
            options.append_all(ours!(.correctable()));
        } else if model.has(&[Key::Validate]) {
            options.append_all(ours!(.validates()));
        }
        if model.has(&[Key::Fallback]) && failed != Failed::Until {
            options.append_all(ours!(.falls_back()));
        }
        options
    }

    /// Binds what cancels the call. Outside of the decision, which it outlives.
    pub(crate) fn cancel(&self) -> Option<TokenStream> {
        let cancel = self.model.expr(Key::Cancel)?;
        let place = cancel.span();
        let cancel = self.user(cancel);
        Some(match self.asyncness {
            Asyncness::Async => {
                let cancelled = ours_at!(place=> __retry::cancelled(#cancel));
                ours!(let mut retry_cancel = #cancelled;)
            }
            Asyncness::Blocking => {
                let cancel = ours_at!(place=> __retry::cancel_blocking(#cancel));
                ours!(let retry_cancel = #cancel;)
            }
        })
    }

    /// What a decision leaves to the pause.
    pub(crate) fn paused(&self) -> TokenStream {
        if self.model.has(&[Key::Cancel]) {
            ours!((retry_pause, retry_cancel))
        } else {
            ours!(retry_pause)
        }
    }

    /// What ends the call, once nothing is borrowed any more by what could have cancelled it.
    pub(crate) fn without_cancel(&self, ended: TokenStream) -> TokenStream {
        if self.model.has(&[Key::Cancel]) {
            ours! {
                __retry::drop(retry_cancel);
                #ended
            }
        } else {
            ended
        }
    }

    /// Waits before the next attempt or correction, and does what follows: `late` ends the call, `spend` takes what was paid
    /// as `retry_paid`.
    pub(crate) fn pause(&self, late: Option<TokenStream>, spend: &TokenStream) -> TokenStream {
        let paused = self
            .model
            .has(&[Key::Cancel])
            .then(|| ours!(let (retry_pause, retry_cancel) = retry_pause;));
        let paid = self
            .model
            .has(&[Key::Budget])
            .then(|| ours!(let (retry_pause, retry_paid) = retry_pause;));
        // Dropped with the call during the pause, what was paid goes back.
        let spend = paid.as_ref().map(|_| spend);
        let sleep = self.sleep();
        let tick = self.tick();
        ours! {
            #paused
            #paid
            #sleep
            #late
            #tick
            #spend
        }
    }

    fn sleep_blocking(&self, is_cancellable: bool) -> TokenStream {
        let timer = if self.model.asks_timer() {
            ours!(retry_timer)
        } else {
            self.timer()
        };
        if !is_cancellable {
            return ours!(__retry::BlockingTimer::sleep(&#timer, retry_pause););
        }
        ours! {
            let retry_cancelled = __retry::BlockingTimer::sleep_or_cancelled(
                &#timer,
                retry_pause,
                &retry_cancel,
            );
            __retry::drop(retry_cancel);
        }
    }

    /// Binds `retry_cancelled` where the call may be cancelled. Of a macro that takes away each `.await`, such as
    /// `maybe_async`, the type of what is left complains: nothing would wait.
    fn sleep(&self) -> TokenStream {
        let is_cancellable = self.model.has(&[Key::Cancel]);
        if self.asyncness == Asyncness::Blocking {
            return self.sleep_blocking(is_cancellable);
        }
        let (timer, sleep) = match self.named_timer() {
            Some(timer) => (
                // Bound, since the pause borrows it.
                (!self.model.asks_timer()).then(|| ours!(let retry_timer = #timer;)),
                ours!(__retry::Timer::sleep(&retry_timer, retry_pause)),
            ),
            None => (None, ours!(__retry::sleep(retry_pause, __retry::Features))),
        };
        if is_cancellable {
            ours! {
                #timer
                let retry_cancelled = __retry::pause_or_cancelled(
                    retry_cancel,
                    ::core::pin::pin!(#sleep),
                )
                .await;
            }
        } else if self.named_timer().is_some() {
            ours! {
                #timer
                let () = #sleep.await;
                __retry::give_way().await;
            }
        } else {
            // Tokio's own makes a task yield that never waits.
            ours!(let () = #sleep.await;)
        }
    }
}

/// A decision, as code.
pub(crate) struct Decided {
    /// Statements before it.
    pub(crate) before: TokenStream,
    pub(crate) decision: TokenStream,
    /// The pattern for a retry, which binds `retry_pause`.
    pub(crate) retried: TokenStream,
    /// Counts the retry, where the decision has not.
    counted: Option<TokenStream>,
}
