//! The key `hedge`: attempts beside a slow one.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::attribute::argument::Argument;
use crate::attribute::expression::is_per_cent;
use crate::expand::attempt::Attempted;
use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Binds what a call remembers: what servers asked for, and whether it was cancelled.
    pub(crate) fn pushback(&self) -> Option<Code> {
        self.model.is_hedged().then(|| {
            ours! {
                let mut retry_pushback = __retry::Pushback::new();
                #?(self.model.is_cancellable()) { let mut retry_came = false; }
            }
        })
    }

    /// Makes an attempt, and others beside it. Binds what one attempt does, and of the last that ended the number, the
    /// guards, and the verdict on its failure where that was asked for already.
    pub(crate) fn hedged(&self, hedge: &Argument, attempted: Attempted) -> Code {
        // Of what the body uses up, the compiler says that the key's closure captured it.
        let closure = ours_at!(hedge.ident.span()=> ||);
        let name = self.model.function.signature.ident.span();
        let coroutine = ours_at!(name=> async);
        let (is_timed, keeps) = (self.model.is_timed(), self.model.history.is_some());
        let timed_out = if_else(is_timed, ours!(retry_dropped), ours!(false));
        ours! {
            let (retry_after, retry_measured) = #(self.hedge_after(hedge));
            #(self.begun())
            let retry_attempt = __retry::runs_at_once(#closure #coroutine {
                #(self.attempt_alone(attempted))
                (retry_outcome, #timed_out)
            });
            let retry_sleep = |retry_after| __retry::sleep_out(#(self.timer()), retry_after);
            let mut retry_verdict = __retry::None;
            #?(keeps) { let mut retry_beside = __retry::Vec::new(); }
            let retry_ended = {
                let retry_first = ::core::pin::pin!(__retry::Some(retry_attempt()));
                let retry_slept = ::core::pin::pin!(retry_sleep(retry_after));
                let mut retry_running = __retry::Running::new(
                    retry_first,
                    (#(self.call())::attempt(&retry_call), #(self.guards())),
                    retry_slept,
                    retry_measured,
                );
                loop {
                    match retry_running.wait().await {
                        __retry::Next::Due(retry_delay) => { #(self.beside()) }
                        __retry::Next::Ended(mut retry_ended) => {
                            retry_ended.outcome = match retry_ended.outcome {
                                __retry::Err(retry_error) if retry_running.goes_on() => { #(self.failed_beside()) }
                                retry_outcome => retry_outcome,
                            };
                            break retry_ended;
                        }
                    }
                }
            };
            #?(is_timed) { let retry_dropped = retry_ended.timed_out; }
            #?(self.model.has_breaker()) { let mut retry_permit = retry_ended.guards.0; }
            #?(self.model.has_limiter()) { let mut retry_place = retry_ended.guards.1; }
            let retry_number = retry_ended.number;
            let mut retry_outcome = retry_ended.outcome;
            #?(keeps) { #(self.kept_beside()) }
        }
    }

    /// When to hedge, and what is told how long attempts took.
    fn hedge_after(&self, hedge: &Argument) -> Code {
        let span = hedge.span;
        let mut after = self.argument(hedge);
        if self.model.expr(Key::Hedge).is_some_and(is_per_cent) {
            after = ours_at!(span=> __retry::no_quantile(#after));
        }
        ours_at!(span=> __retry::hedge(#after, #(self.now_at_start())))
    }

    /// What let an attempt begin.
    fn guards(&self) -> Code {
        let permit = if_else(self.model.has_breaker(), ours!(retry_permit), ours!(()));
        let ticket = if_else(self.model.has_limiter(), ours!(retry_place), ours!(()));
        ours!((#permit, #ticket))
    }

    /// Begins another attempt beside those that run, if everything that has a say agrees: the call first, the budget
    /// last. If one refuses, no other begins until the running ones are over.
    fn beside(&self) -> Code {
        let permit = self.model.expr(Key::Breaker).map(|breaker| {
            let permit = ours_at!(breaker.span()=> __retry::Permit::unasked(#(self.kept(breaker))));
            ours! {
                let mut retry_permit = #permit;
                if !__retry::Permit::admit_beside(&mut retry_permit) {
                    return __retry::None;
                }
                __retry::Call::half_opened_beside(&retry_next, &mut retry_slow, &retry_permit);
            }
        });
        let turn = self.model.expr(Key::Limiter).map(|limiter| {
            let turn = ours_at!(limiter.span()=> __retry::place_beside(#(self.kept(limiter))));
            ours!(let mut retry_place = #turn?;)
        });
        let begins = turn
            .is_some()
            .then(|| ours!(__retry::Place::begin(&mut retry_place);));
        let kept = self.model.history;
        let begun = kept.map(|_| ours!(__retry::Attempt::begin_beside(&retry_history);));
        let decided = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            // A `match` keeps what it borrows from until its end.
            ours! {
                #[allow(clippy::match_single_binding)]
                match __retry::Failure::new(#site, __retry::Verdict::TRANSIENT, &"")#(self.details(&self.now_at_start())) {
                    #?(permit.is_some()) { mut } retry_slow => {
                        if !__retry::Call::may_hedge(&retry_next, &retry_slow, retry_pushback) {
                            return __retry::None;
                        }
                        #permit
                        #turn
                        if !__retry::Call::hedges(&mut retry_next, retry_slow, retry_delay) {
                            return __retry::None;
                        }
                        #begins
                        #begun
                        __retry::Some(#(self.guards()))
                    }
                }
            }
        });
        ours! {
            let mut retry_next = retry_call;
            let retry_begins = __retry::cold(|| {
                #(self.cancel())
                #(self.observer())
                #(self.budget())
                #decided
            });
            retry_call = retry_next;
            if let __retry::Some(retry_guards) = retry_begins {
                retry_running.begin(
                    retry_attempt(),
                    (__retry::Call::attempt(&retry_call), retry_guards),
                    retry_sleep(retry_after),
                );
            }
        }
    }

    /// What follows a `retry_error` beside attempts that go on: they do, unless the failure is not worth a retry.
    fn failed_beside(&self) -> Code {
        let (model, shown) = (self.model, self.shown());
        let guards = ours! {
            #?(model.has_breaker()) { .permit(&mut retry_ended.guards.0) }
            #?(model.has_limiter()) { .place(&mut retry_ended.guards.1) }
        };
        let told = self.payer_and_observer();
        let judged = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                let retry_goes_on = __retry::Call::failed_beside(
                    &mut retry_next,
                    __retry::Failure::new(#site, retry_asked, #shown)#guards #told,
                    retry_ended.number,
                    &mut retry_pushback,
                );
                (retry_goes_on, retry_asked)
            }
        });
        ours! {
            #?(model.is_timed()) { let retry_dropped = retry_ended.timed_out; }
            let mut retry_next = retry_call;
            let (retry_goes_on, retry_judged) = __retry::cold(|| {
                #(self.observer())
                #(self.budget())
                let retry_asked = #(self.asked_verdict(FailureSource::Body));
                #judged
            });
            retry_call = retry_next;
            if retry_goes_on {
                #?(model.history.is_some()) { retry_beside.push(retry_error); }
                continue;
            }
            retry_verdict = __retry::Some(retry_judged);
            __retry::Err(retry_error)
        }
    }

    /// Keeps the failures of attempts beside others, which borrowed the history.
    fn kept_beside(&self) -> Code {
        let repeated = self.repeated().map(|repeated| ours!(#repeated;));
        ours! {
            for retry_error in retry_beside {
                #repeated
                __retry::Attempt::failed_beside(&mut retry_history, retry_error);
            }
            __retry::Attempt::show(&retry_history, retry_number);
        }
    }

    /// The verdict on the last failure of attempts that ran at once, which may be known.
    pub(crate) fn last_verdict(&self, verdict: Code) -> Code {
        if !self.model.is_hedged() {
            return verdict;
        }
        ours! {
            match retry_verdict {
                __retry::Some(retry_verdict) => retry_verdict,
                __retry::None => #verdict,
            }
        }
    }

    /// The call as of the attempt that succeeded, of type `&Call` or as [`Self::whole_call`].
    pub(crate) fn succeeded_call(&self) -> Code {
        if self.model.is_hedged() {
            ours!(&__retry::Call::at(retry_call, retry_number))
        } else {
            self.whole_call()
        }
    }
}
