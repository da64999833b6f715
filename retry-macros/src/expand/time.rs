//! Time: the clock that a call goes by, when it must end, and what follows a pause that took too long.

use proc_macro2::TokenStream;
use quote::quote;
use retry_vocabulary::key::Key;

use crate::expand::model::{Deadline, Late};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::ours;

impl Printer<'_> {
    /// What tells the time, of type `FnOnce() -> Moment`. The user's timer is in scope as `timer`.
    fn now(&self, timer: &TokenStream) -> TokenStream {
        match self.asyncness {
            Asyncness::Blocking => quote!(__retry::now_blocking),
            Asyncness::Async if self.model.names_clock() => {
                ours!(|| __retry::Timer::now(&#timer))
            }
            Asyncness::Async => quote!(__retry::now),
        }
    }

    /// The same at the start of a call.
    fn now_at_start(&self) -> TokenStream {
        self.now(&self.named_timer().unwrap_or_default())
    }

    /// The same after a failure.
    pub(crate) fn now_after_failure(&self) -> TokenStream {
        self.now(&ours!(retry_timer))
    }

    /// The clock of the history of earlier attempts.
    pub(crate) fn clock(&self) -> TokenStream {
        match self.named_timer() {
            _ if !self.model.shows_time => quote!(__retry::no_clock()),
            Some(timer) if self.model.names_clock() => {
                ours!(__retry::clock_at(__retry::Timer::now(&#timer)))
            }
            _ => {
                let now = self.now_at_start();
                ours!(__retry::clock(#now))
            }
        }
    }

    /// When the call ends at the latest, of type `Option<Moment>`. `numbers` is its policy.
    pub(crate) fn deadline(&self, deadline: &Deadline, numbers: &TokenStream) -> TokenStream {
        let now = self.now_at_start();
        match deadline {
            Deadline::Given(deadline) => {
                let deadline = self.argument(deadline);
                quote!(__retry::deadline(#deadline, #now))
            }
            Deadline::OfPolicy => quote!(__retry::policy_deadline(#numbers, #now)),
            Deadline::Decorator { this, of_trait } => {
                let of_trait = of_trait
                    .as_ref()
                    .map(|of_trait| self.deadline(of_trait, numbers));
                let of_trait = of_trait.unwrap_or_else(|| quote!(__retry::None));
                quote! {
                    match &#this.policy {
                        __retry::Some(_) => __retry::policy_deadline(#numbers, #now),
                        __retry::None => #of_trait,
                    }
                }
            }
        }
    }

    /// Declares the timer that a failure binds, so that it is evaluated once for both the time and the pause.
    pub(crate) fn timer_declaration(&self) -> Option<TokenStream> {
        let asks = self.model.asks_timer();
        asks.then(|| ours!(let retry_timer;))
    }

    /// Evaluates it.
    pub(crate) fn timer_assignment(&self) -> Option<TokenStream> {
        let timer = self.named_timer().filter(|_| self.model.asks_timer())?;
        Some(ours!(retry_timer = #timer;))
    }

    /// Tells the history the time on the user's timer.
    pub(crate) fn tick(&self) -> Option<TokenStream> {
        let is_kept = self.model.names_clock() && self.model.shows_time;
        is_kept
            .then(|| ours!(__retry::tick(&mut retry_history, __retry::Timer::now(&retry_timer));))
    }

    /// Declares what a failure leaves behind for the look at the deadline after its pause.
    pub(crate) fn failed_declaration(&self) -> Option<TokenStream> {
        let late = self.model.late(self.asyncness);
        late.map(|_| ours!(let retry_failed;))
    }

    /// There is an error to end with.
    pub(crate) fn failed_with_error(&self) -> Option<TokenStream> {
        Some(match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(retry_failed = true;),
            Late::Kept => ours!(retry_failed = __retry::Some(retry_error);),
        })
    }

    /// A value was rejected, and there is no error to end with.
    pub(crate) fn failed_without_error(&self) -> Option<TokenStream> {
        Some(match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(retry_failed = false;),
            Late::Kept => ours!(retry_failed = __retry::None;),
        })
    }

    /// Looks at the deadline again after the pause before an attempt.
    pub(crate) fn late_attempt(&self) -> Option<TokenStream> {
        let (condition, error) = match self.model.late(self.asyncness)? {
            Late::FromHistory => (
                Some(ours!(retry_failed &&)),
                ours!(__retry::take_last_error(&mut retry_history)),
            ),
            Late::Kept => (None, ours!(retry_failed)),
        };
        let now = self.now_after_failure();
        let ended = self.reported(&ours!(Taken), &quote!(Deadline));
        let outcome = self.outcome_of_failure();
        Some(ours! {
            if #condition __retry::is_late(retry_deadline, retry_pause, #now) {
                if let __retry::Some(retry_error) = #error {
                    #ended
                    break 'retry_call #outcome;
                }
            }
        })
    }

    /// The same after the pause before a correction, whose error is at hand.
    pub(crate) fn late_correction(&self, ended: &TokenStream) -> Option<TokenStream> {
        self.model.deadline.as_ref()?;
        let now = self.now_after_failure();
        let reported = self.reported(&ours!(Corrected), &quote!(Deadline));
        Some(ours! {
            if __retry::is_late(retry_deadline, retry_pause, #now) {
                #reported
                #ended
                break;
            }
        })
    }

    /// Reports that the call ends during or after a pause, and binds `retry_reason` where it is asked for. `pending` is
    /// what the pause was for.
    pub(crate) fn reported(&self, pending: &TokenStream, reason: &TokenStream) -> TokenStream {
        let name = self.name();
        let observer = self.observer();
        let observe = match observer {
            Some(_) => ours!(__retry::Some(&mut retry_observer)),
            None => ours!(__retry::None),
        };
        let shown = self.shown();
        let falls_back = self.model.has(&[Key::Fallback]);
        let report = if self.is_told_by_site() && !falls_back {
            ours!(retry_call.overslept(__RETRY_SITE, #shown, #observe);)
        } else {
            let call = self.whole_call();
            let ended = if falls_back {
                quote!(falling_back)
            } else {
                quote!(ended)
            };
            ours! {
                __retry::#ended(
                    #call,
                    #name,
                    #shown,
                    __retry::Values::#pending,
                    __retry::Reason::#reason,
                    #observe,
                );
            }
        };
        let tick = self.tick();
        let binding = self
            .reason()
            .map(|binding| ours!(let #binding = __retry::Reason::#reason;));
        ours! {
            {
                #observer
                #report
            }
            #tick
            #binding
        }
    }
}
