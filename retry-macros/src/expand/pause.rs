//! The pause before the next attempt or correction.

use proc_macro2::TokenStream;

use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{ours, when};

impl Printer<'_> {
    /// Waits before the next attempt or correction, between its hooks, and does what follows: `late` ends the call, `spend`
    /// takes what was paid as `retry_paid`.
    pub(crate) fn pause(
        &self,
        hooks: [Option<TokenStream>; 2],
        late: Option<TokenStream>,
        spend: &TokenStream,
    ) -> TokenStream {
        let [before_pause, before_retry] = hooks;
        let paused = when(
            self.model.is_cancellable(),
            ours!(let (retry_pause, retry_cancel) = retry_pause;),
        );
        let paid = when(
            self.model.is_paid(),
            ours!(let (retry_pause, retry_paid) = retry_pause;),
        );
        // Dropped with the call during the pause, what was paid goes back.
        ours! {
            #paused
            #paid
            #before_pause
            #(self.sleep())
            #before_retry
            #late
            #(self.tick())
            #(self.model.is_paid().then_some(spend))
        }
    }

    /// The sleep, which binds `retry_cancelled` where the call may be cancelled. If a macro such as `maybe_async` takes away
    /// each `.await`, the type of what is left is an error: nothing would wait.
    pub(crate) fn sleep(&self) -> TokenStream {
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
}
