//! The loop around the runtime's driver, for calls that need more than a retry count after a failure.
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
//!             while retry_call.waits(Reporter::at(SITE).observe(&mut |event| o(event))) {
//!                 retry_call.wait(uncancelled()).await;
//!             }
//!             if let Some(retry_stop) = retry_call.stop() { break 'retry_attempts retry_stop; }
//!             let retry_outcome = async { body }.await;
//!             match retry_outcome {
//!                 Ok(_) => { retry_call.ok(Reporter::at(SITE)…); }
//!                 Err(retry_error) => match retry_call.failed(Failure::new(…), Reporter::at(SITE)…) {
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
//! Methods of the driver are called on a `&mut`, so that inherent methods take precedence over those of a user's trait.
//! All other methods are called by path, because such a trait may have methods with the same names for every type.

use proc_macro2::{Ident, Literal, Span};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::attribute::argument::{KeyValue, keys};
use crate::expand::decision::FailureSource;
use crate::expand::model::{Deadline, DefaultName, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// The retry loop around `attempt`, which binds `retry_outcome`, and the setup of the driver.
    pub(crate) fn driven_loop(&self, attempt: &Code) -> Code {
        let (model, keeps_error) = (self.model, self.keeps_error());
        let kept = model.span_of(&keys![Breaker Limiter Cancel BeforePause BeforeRetry]);
        ours! {
            #(self.own_budget())
            #(self.driver())
            #(self.error_type())
            #(model.history.map(|history| self.history(history)))
            #(self.error_type_of_history())
            // The last error or value, in case the call ends before its next attempt.
            #?(keeps_error) { #(ours_at!(kept=> let mut retry_failed)) = __retry::None; }
            #?(model.keeps_values()) { let mut retry_returned = __retry::None; }
            #?(model.has(&[Key::Hedge])) { let mut retry_pushback = __retry::Pushback::new(); }
            #(self.owned_slots())
            #(self.race_abort(ours! {
                'retry_call: {
                    #(self.with_end_of_failure(self.with_stop(ours! {
                        'retry_attempts: loop {
                            #(self.error_type_of_loop())
                            while retry_call.waits(#(self.reporter())) {
                                #(self.decide_rejection())
                                #(self.wait())
                            }
                            #(self.update_clock())
                            #?(model.may_stop(self.is_async)) {
                                if let __retry::Some(retry_stop) = retry_call.stop() {
                                    break 'retry_attempts retry_stop;
                                }
                            }
                            #(self.with_hooks(ours! {
                                #?(keeps_error) { __retry::drop(retry_failed); }
                                #?(model.keeps_values()) { __retry::drop(retry_returned); }
                                #?(model.history.is_some()) {
                                    __retry::Attempt::begin(&mut retry_history, retry_call.max());
                                }
                                #attempt
                                #(self.error_type_of(&ours!(retry_outcome)))
                                #(self.update_clock())
                                #(self.check_outcome())
                                #(self.break_loop())
                            }))
                        }
                    })))
                }
            }))
        }
    }

    /// The loop, followed by `give_up` or `fallback` if the attribute has one.
    fn with_end_of_failure(&self, looped: Code) -> Code {
        if !self.model.needs_reason() {
            return looped;
        }
        ours! {
            let (retry_error, retry_reason) = 'retry_ended: { #looped };
            #(self.end_of_failure())
        }
    }

    /// The loop, followed by the end of a call that stops before an attempt.
    fn with_stop(&self, looped: Code) -> Code {
        if !self.model.may_stop(self.is_async) {
            return looped;
        }
        ours!(let retry_stop = #looped; #(self.handle_stop()))
    }

    /// The attempt and, if a retry follows, the hooks around the pause. They come after the attempt, because the
    /// compiler infers their error type from it.
    fn with_hooks(&self, attempt: Code) -> Code {
        if !self.model.has_hooks() {
            return attempt;
        }
        ours! {
            'retry_failed: { #attempt }
            #(self.hook(Key::BeforePause))
            #?(self.model.has(&[Key::BeforeRetry])) {
                while retry_call.pauses() { #(self.wait()) }
            }
            #(self.hook(Key::BeforeRetry))
        }
    }

    /// Creates the driver and sets everything that is known before the first attempt. A policy expression is evaluated
    /// only once, even if several settings use it. The driver owns the protections and the timer, so their expressions
    /// are evaluated once for each call.
    fn driver(&self) -> Code {
        let model = self.model;
        let shares = model.has(&[Key::Breaker, Key::Limiter, Key::Budget]);
        let (values, shared) = self.protections();
        let shared = if_else(shares, shared, ours!(()));
        let new = if_else(self.is_async, ours!(new), ours!(blocking));
        let set = match model.policy_uses_at_start() {
            0 | 1 => self.set_driver(&self.policy()),
            _ => self.with_policy(&mut |policy| self.set_driver(&policy)),
        };
        ours! {
            #(self.bound_timer())
            #?(shares) { let (retry_values, retry_kinds) = __retry::given((#values)); }
            let retry_call = &mut __retry::Driver::#new(#shared, #(self.driver_timer()));
            #?(model.moves_arguments()) { let mut retry_last; }
            #?(model.total.is_some()) { let retry_end; }
            #set
        }
    }

    /// Sets everything that the driver needs before the first attempt.
    fn set_driver(&self, policy: &Code) -> Code {
        let model = self.model;
        let max = match model.policy {
            // The limit is unknown before the first failure.
            _ if model.chooses_policy() => {
                Some(ours!(retry_call.set_max(::core::primitive::u32::MAX);))
            }
            Policy::Constant(_) => model.history.map(|_| Self::set_max(policy)),
            _ => model.needs_max().then(|| Self::set_max(policy)),
        };
        let deadline = model.deadline.as_ref();
        let last = self.is_last(policy);
        ours! {
            #?(!model.chooses_policy()) { #(self.ignored_timeout(policy)) }
            #max
            #(deadline.map(|deadline| self.set_deadline(deadline, policy)))
            #(model.total.as_ref().map(|total| {
                let limit = self.time_limit(Key::TotalTimeout, total, policy);
                ours!(retry_end = retry_call.set_total(#limit);)
            }))
            #?(model.retries_rejections()) { retry_call.retry_rejections(); }
            #(last.map(|last| ours!(retry_last = #last;)))
        }
    }

    /// Sets the `max` of the policy, which is reported before any failure.
    fn set_max(policy: &Code) -> Code {
        ours!(retry_call.set_max(__retry::Policy::retries_allowed(#policy));)
    }

    /// Sets the deadline of the call, which starts now.
    pub(crate) fn set_deadline(&self, deadline: &Deadline, policy: &Code) -> Code {
        match deadline {
            Deadline::Chosen => ours!(retry_call.begin_deadline();),
            _ => self.set_limit(deadline, policy),
        }
    }

    fn set_limit(&self, deadline: &Deadline, policy: &Code) -> Code {
        let limit = self.time_limit(Key::Deadline, deadline, policy);
        ours!(retry_call.set_deadline(#limit);)
    }

    /// The time limit of the call that this key sets, of type `Option<Duration>`.
    fn time_limit(&self, key: Key, deadline: &Deadline, policy: &Code) -> Code {
        let is_total = key == Key::TotalTimeout;
        let read = if_else(is_total, ours!(total_limit), ours!(time_limit));
        let of_policy = ours!(__retry::Policy::#read(#policy));
        let given = self.model.arguments.get(key);
        let given = given.map(|given| self.limit_of(given));
        let Deadline::Decorator(this) = deadline else {
            return given.unwrap_or(of_policy);
        };
        let otherwise = if_else(
            self.model.has(&[Key::Policy]),
            of_policy.clone(),
            ours!(__retry::None),
        );
        let of_trait = given.unwrap_or(otherwise);
        ours! {
            match &#this.policy {
                __retry::Some(_) => #of_policy,
                __retry::None => #of_trait,
            }
        }
    }

    /// Applies the deadline of the policy chosen for this error, and warns about a timeout that isn't enforced.
    pub(crate) fn set_chosen_deadline(&self, policy: &Code) -> Option<Code> {
        let deadline = self.model.deadline.as_ref()?;
        self.model.chooses_policy().then(|| {
            ours! {
                #(self.ignored_timeout(policy))
                #(self.set_limit(deadline, policy))
            }
        })
    }

    /// The breaker, limiter and budget: the values, and the `Protections` built from them.
    fn protections(&self) -> (Code, Code) {
        let (mut values, mut setters) = (Code::new(), Code::new());
        let keys = [Key::Breaker, Key::Limiter, Key::Budget];
        let given = keys
            .into_iter()
            .filter_map(|key| self.model.arguments.get(key));
        for (at, argument) in given.enumerate() {
            let (value, written) = match &argument.value {
                KeyValue::Expr(expr) => (self.isolated(expr), expr.to_token_stream()),
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
            // Spans the user's tokens from first to last, so that errors about the type point at all of them.
            let last = written.into_iter().last().map_or(span, |last| last.span());
            let given = ours_at!(last=> (retry_values.#at));
            values.extend(ours!(#value,));
            setters.extend(ours_at!(span=> .#setter(retry_kinds.#at.__retry_shared #given)));
        }
        (values, ours!(__retry::Protections::new()#setters))
    }

    /// Leaves this attempt and continues with the next one.
    pub(crate) fn continue_loop(&self) -> Code {
        if_else(
            self.model.has_hooks(),
            ours!(break 'retry_failed;),
            ours!(continue 'retry_attempts;),
        )
    }

    /// Runs the hook of this key. Only after an error: a value that `until` rejected has no error to pass to the hook.
    fn hook(&self, key: Key) -> Option<Code> {
        let hook = self.model.expr(key)?;
        let span = hook.span();
        let attempt = self.attempt_for(key);
        let hooked = ours_at!(span=> __retry::hook(retry_hook, #(self.user_fn(hook))));
        let hooked = Self::isolate(hook, hooked);
        let awaited = if_else(self.is_async, ours_at!(span=> .await), Code::new());
        let error = if_else(
            self.keeps_error(),
            ours!(__retry::Option::as_ref(&retry_failed)),
            ours!(__retry::Attempt::last_failure(&retry_history)),
        );
        // Uses the key's span, because errors about the hook's return type appear here.
        let ends = ours_at!(span=> retry_call.hooked(retry_hooked));
        Some(ours! {
            if let __retry::Some(retry_hook) = retry_call.hook_on(#error) {
                #attempt
                let retry_hooked = #hooked #awaited;
                #ends;
            }
        })
    }

    /// Waits for the end of the pause or for the limiter. If a macro such as `maybe_async` removes the `.await`, the
    /// annotated type makes this a compile error instead of a call that doesn't wait.
    pub(crate) fn wait(&self) -> Code {
        let cancel = self.cancel_value();
        if_else(
            self.is_async,
            ours!(let () = retry_call.wait(#cancel).await;),
            ours!(retry_call.wait_blocking(&#cancel);),
        )
    }

    /// Binds `retry_cancelled` after a failure, if the attribute has `cancel`.
    pub(crate) fn bind_cancelled(&self) -> Option<Code> {
        self.model.expr(Key::Cancel)?;
        let cancel = self.cancel_value();
        let cancelled = if_else(
            self.is_async,
            ours!(retry_call.is_cancelled(#cancel).await),
            ours!(__retry::Cancel::is_cancelled(&#cancel)),
        );
        Some(ours!(let retry_cancelled = #cancelled;))
    }

    /// The value of `cancel`, or one that never cancels.
    fn cancel_value(&self) -> Code {
        let Some(cancel) = self.model.expr(Key::Cancel) else {
            let never = ours!(__retry::Uncancelled);
            return if_else(self.is_async, ours!(__retry::uncancelled()), never);
        };
        let (span, user) = (cancel.span(), self.isolated(cancel));
        if_else(
            self.is_async,
            ours_at!(span=> __retry::cancelled(#user)),
            ours_at!(span=> __retry::IntoCancel::into_cancel(#user)),
        )
    }

    /// Decides whether to retry after a rejection, unless rejections are never retried.
    fn decide_rejection(&self) -> Option<Code> {
        let model = self.model;
        let is_cancelled = model.has(&[Key::Cancel]);
        let is_cancelled = if_else(is_cancelled, ours!(retry_cancelled), ours!(false));
        let computed = ours!(__retry::Some(&mut retry_delays));
        let delays = if_else(model.delays().is_some(), computed, ours!(__retry::None));
        let decided = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                #(self.set_chosen_deadline(&policy))
                // A rejected attempt had no effect, so `idempotent` doesn't matter.
                retry_call.rejected(#site, #is_cancelled, #delays, #(self.reporter()));
            }
        });
        // The function in `policy` takes an error: here, the rejection.
        let conversion = self.rejection_span().filter(|_| model.chooses_policy());
        let found = if_else(
            conversion.is_some(),
            ours!(let __retry::Some(retry_by) = retry_call.rejection()),
            ours!(__retry::Option::is_some(&retry_call.rejection())),
        );
        let error = conversion.map(|key| {
            let conversion = ours_at!(key=> __retry::FromRejected::from_rejected);
            ours! {
                let retry_error: #(self.error()) = #conversion(__retry::Rejected::new(retry_by));
            }
        });
        let rejected = ours! {
            if #found {
                #(self.bind_cancelled())
                __retry::cold(|| { #(self.delays()) #error #decided });
            }
        };
        model.retries_rejections().then_some(rejected)
    }

    /// Span of the key that requires `E: From<Rejected>`.
    fn rejection_span(&self) -> Option<Span> {
        let key = self.model.arguments.first(&keys![Limiter Breaker])?;
        Some(key.ident.span())
    }

    /// Ends the call before an attempt: with the last error or value if there is one, otherwise with the rejection.
    fn handle_stop(&self) -> Code {
        let error = match self.rejection_span() {
            Some(key) => {
                ours_at!(key=> __retry::last_or_rejected(#(self.last_error(key)), &retry_stop))
            }
            None => ours!(__retry::last(#(self.last_error(Span::mixed_site())))),
        };
        let stop = ours!(retry_stop);
        let is_constant = matches!(self.model.policy, Policy::Constant(_));
        let is_max_known = is_constant || self.model.needs_max() || self.model.chooses_policy();
        let reason = ours!(__retry::Stop::reason(&retry_stop));
        ours! {
            #?(self.model.keeps_values()) {
                if let __retry::Some(retry_outcome) = retry_returned {
                    #(self.report_stop(&stop, &ours!(&__retry::REJECTED_VALUE), &ours!(__retry::Ending::Error)))
                    #(self.break_loop())
                }
            }
            // If an attempt has failed, its failure has already set the `max`.
            #?(self.model.can_be_rejected() && !is_max_known) {
                if retry_call.lacks_max() { #(Self::set_max(&self.policy())) }
            }
            let retry_error = #error;
            #(self.report_stop(&stop, &self.error_text(), &self.ending()))
            #(self.end_with_error(&reason))
        }
    }

    /// Reports that the call ends before an attempt.
    pub(crate) fn report_stop(&self, stop: &Code, shown: &Code, ending: &Code) -> Code {
        ours!(retry_call.stopped(&#stop, #shown, #ending, #(self.reporter()));)
    }

    /// The end of the call after its last failure, for reports.
    pub(crate) fn ending(&self) -> Code {
        let falls_back = self.model.has(&[Key::Fallback]);
        let ending = if_else(falls_back, ours!(Fallback), ours!(Error));
        ours!(__retry::Ending::#ending)
    }

    /// Ends the call with `retry_error`, through `give_up` or `fallback` if the attribute has one.
    pub(crate) fn end_with_error(&self, reason: &Code) -> Code {
        if self.model.needs_reason() {
            ours!(break 'retry_ended (retry_error, #reason);)
        } else {
            self.break_with(ours!(__retry::Err(retry_error)))
        }
    }

    /// An attempt that keeps the breaker borrowed. If that conflicts with the attempt's own borrows, the compiler
    /// points at this use, which has the span of the user's expression, instead of at the driver's drop.
    pub(crate) fn hold_breaker(&self, attempt: Code) -> Code {
        match self.model.expr(Key::Breaker) {
            Some(breaker) if !self.model.has(&[Key::Hedge]) => {
                ours_at!(breaker.span()=> __retry::keep_borrowed(#attempt, &retry_kinds))
            }
            _ => attempt,
        }
    }

    /// The name and the observer, passed to each step of the driver. The driver doesn't keep them, because they may
    /// borrow variables that the body changes.
    pub(crate) fn reporter(&self) -> Code {
        let name = self.reported_name();
        let Some(expr) = self.model.expr(Key::Observe) else {
            return name;
        };
        let span = expr.span();
        let observer = self.user_expr(expr);
        let observer = if matches!(expr, Expr::Closure(_)) {
            observer
        } else {
            let observe =
                ours_at!(span=> __retry::IntoObserver::observe(&(#observer), retry_event));
            ours!(|retry_event: &__retry::Event<'_>| #observe)
        };
        ours_at!(span=> #name.observe(&mut #observer))
    }

    fn reported_name(&self) -> Code {
        if let Policy::Constant(_) = self.model.policy {
            return ours!(__retry::Reporter::at(#(self.constant_site())));
        }
        let (named, name) = (self.model.arguments.value(Key::Name), self.name());
        let is_function = matches!(self.model.default_name, DefaultName::Function(_));
        if named.map_or(is_function, KeyValue::is_literal) {
            return ours!(__retry::Reporter::named(#name));
        }
        ours!(__retry::Reporter::named_by(&|| ::core::convert::From::from(#name)))
    }

    /// Decides whether to retry after a failure: binds `retry_decision`, the pause or the reason for giving up.
    ///
    /// The code is in a cold closure, which the compiler turns into a separate function, so that it doesn't slow down
    /// a call that succeeds. The closure also keeps `return`, `?` and `.await` in keys from acting on the user's
    /// function.
    pub(crate) fn driven_decision(&self, failed: FailureSource) -> Code {
        let shown = self.failure_text(failed);
        let (asked, verdict) = self.classification(failed);
        let has_locals = self.model.delays().is_some() || self.model.moves_arguments();
        let mut decide = |policy: Code| {
            let verdict = self.verdict(&verdict);
            let site = self.site(&policy);
            let last = self.is_last(&policy).map(|last| ours!(retry_last = #last;));
            let failed = ours! {
                retry_call.failed(
                    __retry::Failure::new(#site, #verdict, #shown)#(self.options(failed)), #(self.reporter()),
                )
            };
            ours! {
                #(self.reset_count(&policy))
                #(self.set_chosen_deadline(&policy))
                // Bound to a name if there are other locals, because a temporary would keep the error borrowed in some
                // editions.
                #?(has_locals) {
                    #[allow(clippy::let_and_return)]
                    let retry_decision = #failed;
                    #last
                    retry_decision
                }
                #?(!has_locals) { #failed }
            }
        };
        // Evaluates the policy only once for each failure.
        let asks_again = self.model.moves_arguments() || self.model.resumes();
        let decide = if asks_again || self.model.chooses_policy() {
            self.with_policy(&mut decide)
        } else {
            decide(self.policy())
        };
        ours! {
            #(self.bind_cancelled())
            let retry_decision = __retry::cold(|| { #(self.delays()) #asked #decide });
        }
    }
}
