//! The loop for calls that only count their failures.
//!
//! `#[retry(max = 5, until = accepted)] async fn f(…) -> Result<T, E> { body }`
//! →
//! ```text
//! let mut retry_call = Retries::new();
//! 'retry_call: loop {
//!     let retry_pause = 'retry_pause: {
//!         let mut retry_outcome: Result<T, E> = async { body }.await;
//!         let retry_site = const { … };
//!         match retry_outcome {
//!             Ok(retry_value) => {
//!                 if accepts(&retry_value, accepted) {} else { … }
//!                 retry_outcome = Ok(retry_value);
//!                 retry_call.recovered(retry_site);
//!             }
//!             Err(retry_error) => {
//!                 if let Some(retry_pause) = cold(|| retry_call.next_delay(retry_site, …)) {
//!                     retry_call = retry_call.next();
//!                     break 'retry_pause retry_pause;
//!                 }
//!                 retry_outcome = Err(retry_error);
//!             }
//!         }
//!         break 'retry_call retry_outcome;
//!     };
//!     sleep(retry_pause).await;
//! }
//! ```
//!
//! The loop is inline. A function that loops would take the body as an `AsyncFnMut`, and then a future that borrows
//! `&self` or an argument would not be `Send` (rust-lang/rust#134997).
//!
//! The outcome stays in `retry_outcome` until a single `break` returns it. With two exits, or if the outcome is
//! borrowed, the compiler makes one or two more copies of a large value.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::attribute::argument::keys;
use crate::expand::decision::FailureSource;
use crate::expand::model::History;
use crate::expand::printer::Printer;
use crate::target::outcome;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// The retry loop around `attempt`, which binds `retry_outcome`.
    pub(crate) fn call_loop(&self, attempt: Code) -> Code {
        let retried = if self.model.is_driven {
            self.driven_loop(&attempt)
        } else {
            self.counted_loop(&attempt)
        };
        ours!(#(self.name_item()) #(self.constants()) #(self.in_call_span(retried)))
    }

    fn counted_loop(&self, attempt: &Code) -> Code {
        ours! {
            #(self.expected_timer())
            #(self.bound_timer())
            let mut retry_call = __retry::Retries::new();
            #(self.error_type())
            #(self.model.history.map(|history| self.history(history)))
            #(self.error_type_of_history())
            'retry_call: loop {
                #(self.error_type_of_loop())
                // Drops the error before the pause, so that it need not be `Send`.
                let retry_pause = 'retry_pause: {
                    #?(self.model.history.is_some()) {
                        __retry::Attempt::begin(&mut retry_history, __retry::Call::max_retries(#(self.full_call())));
                    }
                    #attempt
                    #(self.error_type_of(&ours!(retry_outcome)))
                    #(self.bound_site())
                    match retry_outcome {
                        #(self.counted_value())
                        __retry::Err(retry_error) => {
                            #(self.counted_failure(FailureSource::Body))
                            retry_outcome = __retry::Err(retry_error);
                        }
                    }
                    #(self.break_loop())
                };
                #(self.sleep())
                #(self.update_clock())
            }
        }
    }

    /// Handles an `Ok` value.
    fn counted_value(&self) -> Code {
        let recovered = ours!(retry_call.recovered(#(self.constant_site())););
        let Some(until) = self.model.expr(Key::Until) else {
            return ours!(__retry::Ok(_) => { #recovered });
        };
        let unwanted = ours! {
            retry_outcome = __retry::Ok(retry_value);
            #(self.counted_failure(FailureSource::Until))
            #(self.break_loop())
        };
        ours! {
            __retry::Ok(retry_value) => {
                #(self.check_until(until, ours!(&retry_value), unwanted))
                retry_outcome = __retry::Ok(retry_value);
                #recovered
            }
        }
    }

    /// Continues with a retry, if this failure is retried.
    fn counted_failure(&self, failed: FailureSource) -> Code {
        let kept = self.model.history.map(|_| match failed {
            FailureSource::Until => ours!(__retry::Attempt::interrupted(&mut retry_history);),
            _ => ours!(__retry::Attempt::failed(&mut retry_history, retry_error);),
        });
        let site = self.site(&self.policy());
        let verdict = self.verdict(&self.failure_verdict(failed));
        let failed = ours!(retry_call.next_delay(#site, #verdict, #(self.failure_text(failed))));
        // In a cold closure, as in [`Self::driven_decision`].
        let decided = if_else(
            self.model.binds_site(),
            // Passed as an argument, because otherwise the closure would capture a reference to it.
            ours!(__retry::cold_at(#site, |#site| #failed)),
            ours!(__retry::cold(|| #failed)),
        );
        ours! {
            if let __retry::Some(retry_pause) = #decided {
                retry_call = retry_call.next();
                #kept
                break 'retry_pause retry_pause;
            }
        }
    }

    /// The pause before the next attempt of a call without a driver. If a macro such as `maybe_async` removes the
    /// `.await`, the annotated type makes this a compile error instead of a call that doesn't wait.
    fn sleep(&self) -> Code {
        if !self.is_async {
            return ours!(__retry::BlockingTimer::sleep(&#(self.timer()), retry_pause););
        }
        if self.names_timer() {
            // Yields even if the sleep has waited, because a flag for that would make every future larger.
            return ours! {
                let () = __retry::Timer::sleep(&retry_timer, retry_pause).await;
                __retry::yield_now().await;
            };
        }
        let sleep = ours!(__retry::Timer::sleep(&#(self.timer()), retry_pause));
        if self.model.retries_at_once() {
            return ours! {
                if ::core::time::Duration::is_zero(&retry_pause) { __retry::yield_now().await; }
                else { let () = #sleep.await; }
            };
        }
        // Tokio's sleep already yields cooperatively.
        ours!(let () = #sleep.await;)
    }

    /// Ends the loop with `retry_outcome`, located at the function's return type, so that errors about a borrow in the
    /// outcome point there. If that type is not a `Result`, this causes the same error at the same place as the
    /// attempt does, so the compiler reports it only once.
    pub(crate) fn break_loop(&self) -> Code {
        let outcome = ours_at!(self.model.outcome.span()=> retry_outcome);
        let value = ours!(__retry::unfailed(#outcome));
        self.break_with(if_else(self.model.converts_error(), value, outcome))
    }

    /// Ends the loop with this outcome.
    pub(crate) fn break_with(&self, outcome: Code) -> Code {
        let returned = &self.model.outcome;
        if self.model.stream.is_some()
            || self.model.converts_error()
            || outcome::is_result(returned)
        {
            return ours!(break 'retry_call #outcome;);
        }
        let returned = ours_at!(returned.span()=> __retry::from_result::<#returned, _, _>);
        ours!(break 'retry_call #returned(#outcome);)
    }

    pub(crate) fn history(&self, history: History) -> Code {
        let error = self.error();
        let clock = self.clock();
        let history = match (history, &self.model.stream) {
            (History::Items, Some(stream)) => {
                ours!(__retry::stream::resume::history::<#(&stream.item)>(#clock))
            }
            (History::Values, _) => {
                let draft = ours!(__retry::Draft::<#(self.value())>::none());
                ours!(__retry::Attempt::<#error, _>::before_first(#clock, #draft))
            }
            _ => ours!(__retry::Attempt::<#error, _>::before_first(#clock, ())),
        };
        let span = self.model.span_of(&keys![Attempt GiveUp Fallback Repeats]);
        ours!(#(ours_at!(span=> let mut retry_history)) = #history;)
    }
}
