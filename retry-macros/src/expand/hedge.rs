//! The key `hedge`: starts another attempt while a slow one is running.

use retry_vocabulary::key::Key;
use syn::Expr;

use crate::attribute::argument::Argument;
use crate::attribute::value::number;
use crate::expand::attempt::AttemptBody;
use crate::expand::decision::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ends_with, if_else, ours, ours_at};

impl Printer<'_> {
    /// Makes an attempt, and hedged attempts if it is slow. Binds the same names as a single attempt, and also the
    /// number of the attempt that ended last, and the verdict on its failure if that is already classified.
    pub(crate) fn hedged_attempts(&self, hedge: &Argument, attempted: AttemptBody) -> Code {
        // If the body consumes a variable, the compiler's error points at the key as the closure that captured it.
        let closure = ours_at!(hedge.ident.span()=> ||);
        let name = self.model.function.signature.ident.span();
        let coroutine = ours_at!(name=> async);
        let is_timed = self.model.attempt_timeout().is_some();
        let keeps = self.model.history.is_some();
        let number = ours!(__retry::Call::attempt(#(self.full_call())));
        let timed_out = if_else(is_timed, ours!(retry_dropped), ours!(false));
        ours! {
            let (retry_after, retry_measured) = #(self.hedge_after(hedge));
            #(self.bind_counter())
            let retry_attempt = __retry::runs_at_once(#closure #coroutine {
                #(self.single_attempt(attempted))
                (retry_outcome, #timed_out)
            });
            let retry_sleep = |retry_after| __retry::sleep_out(#(self.timer()), retry_after);
            let mut retry_verdict = __retry::None;
            #?(keeps) { let mut retry_hedge_errors = __retry::Vec::new(); }
            let retry_ended = {
                let retry_first = ::core::pin::pin!(__retry::Some(retry_attempt()));
                let retry_slept = ::core::pin::pin!(retry_sleep(retry_after));
                let mut retry_running = __retry::Running::new(retry_first, #number, retry_slept, retry_measured);
                loop {
                    match retry_running.wait().await {
                        __retry::Next::Due(retry_delay) => { #(self.second_attempt()) }
                        __retry::Next::Ended(mut retry_ended) => {
                            retry_ended.outcome = match retry_ended.outcome {
                                __retry::Err(retry_error) if retry_running.goes_on() => { #(self.hedge_failed()) }
                                retry_outcome => retry_outcome,
                            };
                            break retry_ended;
                        }
                    }
                }
            };
            #?(is_timed) { let retry_dropped = retry_ended.timed_out; }
            let retry_number = retry_ended.number;
            retry_call.hedges_ended(retry_number, __retry::Result::is_ok(&retry_ended.outcome));
            let mut retry_outcome = retry_ended.outcome;
            // Added only now, because the attempts borrowed the history.
            #?(keeps) {
                for retry_error in retry_hedge_errors {
                    #(self.is_repeated().map(|repeated| ours!(#repeated;)))
                    __retry::Attempt::hedge_failed(&mut retry_history, retry_error);
                }
                __retry::Attempt::show(&retry_history, retry_number);
            }
        }
    }

    /// The time until the next attempt, and the `Latency` that measures attempts.
    fn hedge_after(&self, hedge: &Argument) -> Code {
        let span = hedge.span;
        let mut after = self.argument(hedge);
        if self.model.expr(Key::Hedge).is_some_and(is_per_cent) {
            after = ours_at!(span=> __retry::no_quantile(#after));
        }
        ours_at!(span=> __retry::hedge(#after, #(self.now())))
    }

    /// Starts a hedged attempt if the call, breaker, limiter and budget all allow it, in that order. If one of them
    /// refuses, no other attempt starts until the running ones have ended.
    fn second_attempt(&self) -> Code {
        let decided = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                retry_call.hedge(
                    __retry::Failure::new(#site, __retry::Verdict::TRANSIENT, &"")#(self.details()),
                    retry_delay, retry_pushback, #(self.reporter()),
                )
            }
        });
        ours! {
            #(self.bind_cancelled())
            let retry_begins = __retry::cold(|| { #decided });
            if let __retry::Some(retry_number) = retry_begins {
                #?(self.model.history.is_some()) { __retry::Attempt::count_hedge(&retry_history); }
                retry_running.begin(retry_attempt(), retry_number, retry_sleep(retry_after));
            }
        }
    }

    /// Handles `retry_error` while other attempts are running: they continue, unless the failure is not retryable.
    fn hedge_failed(&self) -> Code {
        let (model, shown) = (self.model, self.error_text());
        let judged = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                let retry_goes_on = retry_call.hedge_failed(
                    __retry::Failure::new(#site, retry_asked, #shown),
                    retry_ended.number, &mut retry_pushback, #(self.reporter()),
                );
                (retry_goes_on, retry_asked)
            }
        });
        ours! {
            #?(model.attempt_timeout().is_some()) { let retry_dropped = retry_ended.timed_out; }
            let (retry_goes_on, retry_judged) = __retry::cold(|| {
                let retry_asked = #(self.failure_verdict(FailureSource::Body));
                #judged
            });
            if retry_goes_on {
                #?(model.history.is_some()) { retry_hedge_errors.push(retry_error); }
                continue;
            }
            retry_verdict = __retry::Some(retry_judged);
            __retry::Err(retry_error)
        }
    }
}

/// True if the expression looks like a quantile above 1, probably a percentage. The compiler would only suggest a float
/// of the same value. The macro can't see types, so it goes by the names.
fn is_per_cent(expr: &Expr) -> bool {
    let given = match expr {
        Expr::Paren(inner) => return is_per_cent(&inner.expr),
        Expr::Group(inner) => return is_per_cent(&inner.expr),
        Expr::MethodCall(call) if call.method == "quantile" => call.args.first(),
        // `Quantile` may have been renamed in an import.
        Expr::Call(call) if matches!(&*call.func, Expr::Path(function) if ends_with(&function.path, &["new"])) => {
            call.args.get(1)
        }
        _ => None,
    };
    let number = given.and_then(number);
    number.is_some_and(|number| number.is_ok_and(|number| number > 1.0))
}
