//! The pause of a call that has no driver.

use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, ours};

impl Printer<'_> {
    /// The pause before the next attempt of a call without a driver. If a macro such as `maybe_async` takes away each
    /// `.await`, the type of what is left is an error: nothing would wait.
    pub(crate) fn sleep(&self) -> Code {
        if self.asyncness == Asyncness::Blocking {
            return ours!(__retry::BlockingTimer::sleep(&#(self.timer()), retry_pause););
        }
        if self.names_timer() {
            // Yields even if the sleep has waited: storing that would make each future larger.
            return ours! {
                let () = __retry::Timer::sleep(&retry_timer, retry_pause).await;
                __retry::give_way().await;
            };
        }
        let sleep = ours!(__retry::sleep(retry_pause, __retry::Features));
        if self.model.retries_at_once() {
            return ours! {
                if ::core::time::Duration::is_zero(&retry_pause) {
                    __retry::give_way().await;
                } else {
                    let () = #sleep.await;
                }
            };
        }
        // Tokio's own makes a task yield that never waits.
        ours!(let () = #sleep.await;)
    }
}
