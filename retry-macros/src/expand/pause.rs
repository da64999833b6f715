//! The pause before the next attempt or correction, and the keys `before_pause` and `before_retry`: what runs around it, and
//! ends the call where it fails.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::model::Late;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, ours, ours_at, when};

impl Printer<'_> {
    /// Waits before the next attempt or correction, between its hooks, and does what follows: `late` ends the call, `spend`
    /// takes what was paid as `retry_paid`.
    pub(crate) fn pause(&self, hooks: [Option<Code>; 2], late: Option<Code>, spend: &Code) -> Code {
        let [before_pause, before_retry] = hooks;
        // Dropped with the call during the pause, what was paid goes back.
        ours! {
            #?(self.model.is_cancellable()) { let (retry_pause, retry_cancel) = retry_pause; }
            #?(self.model.is_paid()) { let (retry_pause, retry_paid) = retry_pause; }
            #before_pause
            #(self.sleep())
            #before_retry
            #late
            #(self.tick())
            #?(self.model.is_paid()) { #spend }
        }
    }

    /// The sleep, which binds `retry_cancelled` where the call may be cancelled. If a macro such as `maybe_async` takes away
    /// each `.await`, the type of what is left is an error: nothing would wait.
    pub(crate) fn sleep(&self) -> Code {
        let is_cancellable = self.model.is_cancellable();
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
            // Yields even if the sleep has waited: storing that would make each future larger.
            ours! {
                #timer
                let () = #sleep.await;
                __retry::give_way().await;
            }
        } else if self.model.retries_at_once() {
            ours! {
                if ::core::time::Duration::is_zero(&retry_pause) {
                    __retry::give_way().await;
                } else {
                    let () = #sleep.await;
                }
            }
        } else {
            // Tokio's own makes a task yield that never waits.
            ours!(let () = #sleep.await;)
        }
    }

    fn sleep_blocking(&self, is_cancellable: bool) -> Code {
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

    /// Runs the hook of that key. Only after an error: for a value that `until` rejected there is none to show it. A
    /// call that ends after its pause, cancelled or late, ends without. After `before_pause`, the call ends if its
    /// pause would outlast the deadline.
    pub(crate) fn hook(&self, key: Key) -> Option<Code> {
        let hook = self.model.expr(key)?;
        let span = hook.span();
        let next = ours!(__retry::NextAttempt::new(__retry::Call::attempt(#(self.whole_call())), retry_pause));
        let attempt = self.attempt_for(key);
        let hooked = ours_at!(span=> __retry::hook(retry_error, #next, #(self.user(hook))));
        let hooked = Self::contained_future(hook, hooked);
        let awaited = when(self.asyncness == Asyncness::Async, ours_at!(span=> .await));
        let hooked = ours_at!(span=> { #attempt #hooked #awaited });
        let cause = ours_at!(span=> __retry::HookOutcome::cause(#hooked));
        let error = match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(__retry::Attempt::last_failure(&retry_history)),
            Late::FromLocal => ours!(__retry::Option::as_ref(&retry_failed)),
        };
        let error = match self.late().filter(|_| key == Key::BeforeRetry) {
            Some(late) => ours! {
                if __retry::Option::is_some(&#late) { __retry::None } else { #error }
            },
            None => error,
        };
        let last_error = self.last_error()?;
        let shown = ours!(&__retry::Caused(#(self.shown()), &retry_cause));
        let unpaid = self.unpaid();
        let reason = ours!(__retry::Reason::HookFailed);
        Some(ours! {
            let retry_cause = match #error {
                __retry::Some(retry_error) => #cause,
                __retry::None => __retry::None,
            };
            if let __retry::Some(retry_cause) = retry_cause {
                if let __retry::Some(retry_error) = #last_error {
                    #(self.ends_with_error(unpaid.as_ref(), &shown, &reason))
                }
            }
            #((key == Key::BeforePause).then(|| self.late_pause()))
        })
    }
}
