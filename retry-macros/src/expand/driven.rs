//! The loop that the runtime's driver steps through: every loop that needs more than a count after a failure.
//!
//! `#[retry(breaker = &B, observe = |event| o(event), fallback = f, …)] async fn f(…) -> Result<T, E> { body }`
//! →
//! ```text
//! let (retry_values, retry_kinds) = given((&B,));
//! let retry_call = &mut Driver::new(Protections::new().breaker(…), expected_timer());
//! let mut retry_history = Attempt::before_first(…);
//! 'retry_call: {
//!     let (retry_error, retry_reason) = 'retry_ended: {
//!         let retry_stop = 'retry_attempts: loop {
//!             while retry_call.waits(observed(SITE, |event| o(event))) {
//!                 retry_call.wait(uncancelled()).await;
//!             }
//!             if let Some(retry_stop) = retry_call.stop() { break 'retry_attempts retry_stop; }
//!             let retry_outcome = async { body }.await;
//!             match retry_outcome {
//!                 Ok(_) => { retry_call.ok(observed(…)); }
//!                 Err(retry_error) => match retry_call.failed(Failure::new(…), observed(…)) {
//!                     Ok(_) => { retry_history.failed(retry_error); continue 'retry_attempts; }
//!                     Err(retry_reason) => break 'retry_ended (retry_error, retry_reason),
//!                 },
//!             }
//!             break 'retry_call retry_outcome;
//!         };
//!         let retry_error = match retry_history.last_failure() { … };
//!         retry_call.stopped(&retry_stop, …);
//!         (retry_error, retry_stop.reason())
//!     };
//!     let retry_outcome = f(retry_history.gave_up(retry_error, retry_reason)).await;
//!     break 'retry_call retry_outcome;
//! }
//! ```
//!
//! Methods of the driver are called on a `&mut`, where inherent ones come before those of a user's trait. All others are
//! called by their paths, since such a trait may have methods of the same names for every type.

use proc_macro2::{Ident, Literal, Span};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::attribute::argument::KeyValue;
use crate::expand::failure::FailureSource;
use crate::expand::model::{Deadline, Late, Policy};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at, when};

impl Printer<'_> {
    /// The loop around the code that binds `retry_outcome`, and what stands before it.
    pub(crate) fn driven_loop(&self, attempt: &Code) -> Code {
        let looped = self.attempts(attempt);
        let ended = if self.model.tells_reason() {
            ours! {
                let (retry_error, retry_reason) = 'retry_ended: { #looped };
                #(self.end_of_failure())
            }
        } else {
            looped
        };
        let looped = self.abortable(ours!('retry_call: { #ended }));
        ours! {
            #(self.own_budget())
            #(self.driver())
            #(self.error_type())
            #(self.model.history.map(|history| self.history(history)))
            #(self.error_type_of_history())
            #(self.failed_declaration())
            #(self.pushback())
            #(self.owned_slots())
            #looped
        }
    }

    /// The loop, and what ends the call before an attempt.
    fn attempts(&self, attempt: &Code) -> Code {
        let outcome_type = self.error_type_of(&ours!(retry_outcome));
        let attempt = ours! {
            #(self.failed_drop())
            #?(self.model.history.is_some()) {
                __retry::Attempt::begin(&mut retry_history, retry_call.max());
            }
            #attempt
            #outcome_type
            #(self.tick())
            #(self.judged())
            #(self.leave())
        };
        let attempt = match self.pause_between_hooks() {
            None => attempt,
            // Hooks stand after the attempt, from which the compiler infers the type of their error.
            Some(pause) => ours! {
                'retry_failed: { #attempt }
                #pause
            },
        };
        let stopped = self.stopped();
        let stop = stopped.as_ref().map(|_| {
            ours! {
                if let __retry::Some(retry_stop) = retry_call.stop() {
                    break 'retry_attempts retry_stop;
                }
            }
        });
        let looped = ours! {
            'retry_attempts: loop {
                #(self.error_type_of_loop())
                #(self.gate())
                #(self.tick())
                #stop
                #attempt
            }
        };
        match stopped {
            None => looped,
            Some(stopped) => ours!(let retry_stop = #looped; #stopped),
        }
    }

    /// Binds the driver, and what it knows before the first attempt. A policy that is an expression is evaluated once for
    /// all of that.
    fn driver(&self) -> Code {
        let model = self.model;
        let shares = model.has(&[Key::Breaker, Key::Limiter, Key::Budget]);
        let (values, shared) = self.shared();
        let shared = if_else(shares, shared, ours!(()));
        let new = match self.asyncness {
            Asyncness::Async => ours!(new),
            Asyncness::Blocking => ours!(blocking),
        };
        let set = match model.policy_uses_at_start() {
            0 | 1 => self.set_driver(&self.policy()),
            _ => self.with_policy(&mut |policy| self.set_driver(&policy)),
        };
        ours! {
            #(self.bound_timer())
            #?(shares) { let (retry_values, retry_kinds) = __retry::given((#values)); }
            let retry_call = &mut __retry::Driver::#new(#shared, #(self.timer_of_call()));
            #?(model.gives_away()) { let mut retry_last; }
            #set
        }
    }

    /// Tells the driver what it knows before the first attempt.
    fn set_driver(&self, policy: &Code) -> Code {
        let model = self.model;
        let max = match model.policy {
            // No limit is known before the first failure.
            _ if model.chooses_policy() => {
                Some(ours!(retry_call.set_max(::core::primitive::u32::MAX);))
            }
            Policy::Constant(_) if model.history.is_none() => None,
            Policy::Constant(_) => Some(ours!(retry_call.begin_under(#(self.policy()));)),
            _ if model.shows_max() => Some(ours!(retry_call.begin_under(#policy);)),
            _ => None,
        };
        let deadline = model.deadline.as_ref();
        let last = self.is_last(policy);
        let ignored = when(!model.chooses_policy(), self.ignored_timeout(policy));
        ours! {
            #ignored
            #max
            #(deadline.map(|deadline| self.set_deadline(deadline, policy)))
            #?(model.retries_rejections()) { retry_call.retry_rejections(); }
            #(last.map(|last| ours!(retry_last = #last;)))
        }
    }

    /// Sets the end of the call, which begins now.
    pub(crate) fn set_deadline(&self, deadline: &Deadline, policy: &Code) -> Code {
        match deadline {
            Deadline::OfChoice => ours!(retry_call.begin_deadline();),
            _ => ours!(retry_call.set_deadline(#(self.time_limit(deadline, policy)));),
        }
    }

    /// The time that the call may take, of type `Option<Duration>`.
    fn time_limit(&self, deadline: &Deadline, policy: &Code) -> Code {
        match deadline {
            Deadline::Given(deadline) => self.given_limit(deadline),
            Deadline::OfPolicy | Deadline::OfChoice => ours!(__retry::policy_limit(#policy)),
            Deadline::Decorator { this, of_trait } => {
                let of_trait = match of_trait {
                    Some(of_trait) => self.time_limit(of_trait, policy),
                    None => ours!(__retry::None),
                };
                ours! {
                    match &#this.policy {
                        __retry::Some(_) => __retry::policy_limit(#policy),
                        __retry::None => #of_trait,
                    }
                }
            }
        }
    }

    /// Has the call end by the deadline of the policy that a failure chose, and reports a timeout of it that is not named.
    pub(crate) fn deadline_of_choice(&self, policy: &Code) -> Option<Code> {
        let deadline = self.model.deadline.as_ref()?;
        self.model.chooses_policy().then(|| {
            ours! {
                #(self.ignored_timeout(policy))
                retry_call.end_after(#(self.time_limit(deadline, policy)));
            }
        })
    }

    /// What calls share: its values, and the protections made of them.
    fn shared(&self) -> (Code, Code) {
        let (mut values, mut setters) = (Code::new(), Code::new());
        let keys = [Key::Breaker, Key::Limiter, Key::Budget];
        let given = keys
            .into_iter()
            .filter_map(|key| self.model.arguments.get(key));
        for (at, argument) in given.enumerate() {
            let (value, written) = match &argument.value {
                KeyValue::Expr(expr) => (self.kept(expr), expr.to_token_stream()),
                _ => {
                    let own = ours_at!(argument.span=> __retry::own_budget(&__RETRY_BUDGET));
                    (own, argument.ident.to_token_stream())
                }
            };
            let span = written.span();
            let located = Span::mixed_site().located_at(span);
            let setter = Ident::new(argument.key.name(), located);
            let mut at = Literal::usize_unsuffixed(at);
            at.set_span(located);
            // Located from the first token that the user wrote to the last, as is what the compiler says of its type.
            let last = written.into_iter().last().map_or(span, |last| last.span());
            let given = ours_at!(last=> (retry_values.#at));
            values.extend(ours!(#value,));
            setters.extend(ours_at!(span=> .#setter(retry_kinds.#at.__retry_shared #given)));
        }
        (values, ours!(__retry::Protections::new()#setters))
    }

    /// The pause, between its hooks.
    fn pause_between_hooks(&self) -> Option<Code> {
        let pause = self.waiting();
        self.model.is_hooked().then(|| {
            ours! {
                #(self.hook(Key::BeforePause))
                #?(self.model.has(&[Key::BeforeRetry])) {
                    while retry_call.pauses() { #pause }
                }
                #(self.hook(Key::BeforeRetry))
            }
        })
    }

    /// Leaves the attempt for the next one.
    pub(crate) fn goes_on(&self) -> Code {
        if_else(
            self.model.is_hooked(),
            ours!(break 'retry_failed;),
            ours!(continue 'retry_attempts;),
        )
    }

    /// Runs the hook of that key. Only after an error: for a value that `until` rejected there is none to show it.
    fn hook(&self, key: Key) -> Option<Code> {
        let hook = self.model.expr(key)?;
        let span = hook.span();
        let attempt = self.attempt_for(key);
        let hooked = ours_at!(span=> __retry::hook(retry_hook, #(self.user(hook))));
        let hooked = Self::contained_future(hook, hooked);
        let awaited = when(self.asyncness == Asyncness::Async, ours_at!(span=> .await));
        let error = match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(__retry::Attempt::last_failure(&retry_history)),
            Late::FromLocal => ours!(__retry::Option::as_ref(&retry_failed)),
        };
        let hooked = ours_at!(span=> #hooked #awaited);
        // Checked where its span is the key's, since it says what a hook can't return.
        let ends = ours_at!(span=> retry_call.hooked(retry_hooked));
        Some(ours! {
            if let __retry::Some(retry_hook) = retry_call.hook_on(#error) {
                #attempt
                let retry_hooked = #hooked;
                #ends;
            }
        })
    }

    /// Waits for what stands between the call and its attempt: the pause, the limiter's turn, and the breaker.
    fn gate(&self) -> Code {
        let rejection = self.model.retries_rejections().then(|| {
            ours! {
                if let __retry::Some((retry_by, retry_half_open_in)) = retry_call.rejection() {
                    #(self.cancelled())
                    __retry::cold(|| { #(self.rejection()) });
                }
            }
        });
        ours! {
            while retry_call.waits(#(self.reporter())) {
                #rejection
                #(self.waiting())
            }
        }
    }

    /// Waits for one of these. If a macro such as `maybe_async` takes away each `.await`, the type of what is left is an
    /// error: nothing would wait.
    pub(crate) fn waiting(&self) -> Code {
        let cancel = self.model.expr(Key::Cancel);
        match self.asyncness {
            Asyncness::Async => {
                let cancelled = cancel.map_or_else(
                    || ours!(__retry::uncancelled()),
                    |cancel| ours_at!(cancel.span()=> __retry::cancelled(#(self.kept(cancel)))),
                );
                ours!(let () = retry_call.wait(#cancelled).await;)
            }
            Asyncness::Blocking => {
                let cancel = cancel.map_or_else(
                    || ours!(__retry::Uncancelled),
                    |cancel| self.blocking_cancel(cancel),
                );
                ours!(retry_call.wait_blocking(&#cancel);)
            }
        }
    }

    fn blocking_cancel(&self, cancel: &Expr) -> Code {
        ours_at!(cancel.span()=> __retry::IntoCancel::into_cancel(#(self.kept(cancel))))
    }

    /// Binds `retry_cancelled` after a failure, if something may cancel the call.
    pub(crate) fn cancelled(&self) -> Option<Code> {
        let cancel = self.model.expr(Key::Cancel)?;
        let cancelled = match self.asyncness {
            Asyncness::Async => {
                let cancelled = ours_at!(cancel.span()=> __retry::cancelled(#(self.kept(cancel))));
                ours!(retry_call.is_cancelled(#cancelled).await)
            }
            Asyncness::Blocking => {
                ours!(__retry::Cancel::is_cancelled(&#(self.blocking_cancel(cancel))))
            }
        };
        Some(ours!(let retry_cancelled = #cancelled;))
    }

    /// Decides what follows a rejection.
    fn rejection(&self) -> Code {
        let decided = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                #(self.deadline_of_choice(&policy))
                retry_call.rejected(
                    __retry::Failure::of_rejection(
                        #site,
                        &__retry::Rejected::new(retry_by),
                        retry_half_open_in,
                    )#(self.details_of_rejection()),
                    #(self.reporter()),
                );
            }
        });
        // The function given to `policy` takes an error: here, the rejection.
        let error = self.model.chooses_policy().then(|| {
            let conversion = self.rejecting_key();
            let conversion =
                conversion.map(|key| ours_at!(key=> __retry::FromRejected::from_rejected));
            ours! {
                let retry_error: #(self.error()) = #conversion(__retry::Rejected::new(retry_by));
            }
        });
        ours!(#(self.delays()) #error #decided)
    }

    /// The key that needs rejections to convert to the function's error.
    fn rejecting_key(&self) -> Option<Span> {
        let arguments = &self.model.arguments;
        let key = arguments.get(Key::Limiter);
        let key = key.or_else(|| arguments.get(Key::Breaker))?;
        Some(key.ident.span())
    }

    /// Ends the call before an attempt that does not begin: with what the last one left, or else with the rejection.
    fn stopped(&self) -> Option<Code> {
        let error = match self.rejecting_key() {
            Some(key) => {
                let last = self.last_error(key)?;
                ours_at!(key=> __retry::last_or_rejected(#last, &retry_stop))
            }
            None => ours!(__retry::last(#(self.last_error(Span::mixed_site())?))),
        };
        let stopped = |shown: Code, ending: Code| {
            ours! {
                retry_call.stopped(
                    &retry_stop,
                    #shown,
                    #ending,
                    #(self.reporter()),
                );
            }
        };
        let reason = ours!(__retry::Stop::reason(&retry_stop));
        Some(ours! {
            #?(self.model.keeps_values()) {
                if let __retry::Some(retry_outcome) = retry_returned {
                    #(stopped(ours!(&__retry::REJECTED_VALUE), ours!(__retry::Ending::Error)))
                    #(self.leave())
                }
            }
            #(self.max_at_stop())
            let retry_error = #error;
            #(stopped(self.shown(), self.ending()))
            #(self.ends_with(&reason))
        })
    }

    /// What follows the call's last failure, for reports.
    pub(crate) fn ending(&self) -> Code {
        let ending = if_else(self.model.falls_back(), ours!(Fallback), ours!(Error));
        ours!(__retry::Ending::#ending)
    }

    /// Tells the driver the policy's `max`, which is otherwise known from the first failure.
    fn max_at_stop(&self) -> Option<Code> {
        let is_constant = matches!(self.model.policy, Policy::Constant(_));
        let is_known = is_constant || self.model.shows_max() || self.model.chooses_policy();
        if is_known || !self.model.is_gated() {
            return None;
        }
        Some(ours! {
            if retry_call.lacks_max() {
                retry_call.begin_under(#(self.policy()));
            }
        })
    }

    /// Ends the call with `retry_error`: by way of what shapes its end, which is also given the reason.
    pub(crate) fn ends_with(&self, reason: &Code) -> Code {
        if self.model.tells_reason() {
            ours!(break 'retry_ended (retry_error, #reason);)
        } else {
            self.leave_with(ours!(__retry::Err(retry_error)))
        }
    }

    /// An attempt while the driver holds the breaker. The compiler names the first use of a borrow that stands in the
    /// attempt's way: without this one at the user's expression, it would name the end of our driver.
    pub(crate) fn beside_breaker(&self, attempt: Code) -> Code {
        match self.model.expr(Key::Breaker) {
            Some(breaker) if !self.model.is_hedged() => {
                ours_at!(breaker.span()=> __retry::beside(#attempt, &retry_kinds))
            }
            _ => attempt,
        }
    }

    /// The name and the observer, which each step of the driver takes.
    pub(crate) fn reporter(&self) -> Code {
        let name = self.reported_name();
        let Some(expr) = self.model.expr(Key::Observe) else {
            return name;
        };
        let span = expr.span();
        let observer = self.user(expr);
        let observer = if matches!(expr, Expr::Closure(_)) {
            observer
        } else {
            let observe =
                ours_at!(span=> __retry::IntoObserver::observe(&(#observer), retry_event));
            ours!(|retry_event: &__retry::Event<'_>| #observe)
        };
        ours_at!(span=> __retry::observed(#name, #observer))
    }

    fn reported_name(&self) -> Code {
        if let Policy::Constant(_) = self.model.policy {
            return self.constant_site();
        }
        let named = self.model.arguments.value(Key::Name);
        if named.is_none_or(KeyValue::is_literal) && self.client_name().is_none() {
            return self.name();
        }
        ours!(__retry::named_by(|retry_with| retry_with(#(self.name()))))
    }

    /// The pause after a failure, or the reason that there is none: binds `retry_decision`.
    ///
    /// In a cold closure, so that code used only here stays out of the way of a call that succeeds: the compiler turns the
    /// closure into a function. It also keeps `return`, `?` and `.await` in keys from acting on the function.
    pub(crate) fn driven_decision(&self, failed: FailureSource) -> Code {
        let shown = self.shown_after(failed);
        let (asked, verdict) = self.asked_first(failed);
        let has_locals = self.model.delays().is_some() || self.model.gives_away();
        let mut decide = |policy: Code| {
            let verdict = self.verdict(&verdict);
            let site = self.site(&policy);
            let last = self.is_last(&policy).map(|last| ours!(retry_last = #last;));
            let failed = ours! {
                retry_call.failed(
                    __retry::Failure::new(#site, #verdict, #shown)#(self.options(failed)),
                    #(self.reporter()),
                )
            };
            // Bound to a name where there are others, so that no edition's rules keep a borrow of the error alive.
            let decided = if has_locals {
                ours! {
                    #[allow(clippy::let_and_return)]
                    let retry_decision = #failed;
                    #last
                    retry_decision
                }
            } else {
                failed
            };
            ours! {
                #(self.restart(&policy))
                #(self.deadline_of_choice(&policy))
                #decided
            }
        };
        // Evaluated once for each failure.
        let asks_again = self.model.gives_away() || self.model.resumes();
        let decide = if asks_again || self.model.chooses_policy() {
            self.with_policy(&mut decide)
        } else {
            decide(self.policy())
        };
        ours! {
            #(self.cancelled())
            let retry_decision = __retry::cold(|| { #(self.delays()) #asked #decide });
        }
    }
}
