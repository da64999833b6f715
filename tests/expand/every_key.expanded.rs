//! Every key that can be combined with the others.
async fn complete(
    prompt: String,
    limits: Limits,
    log: &mut Vec<String>,
) -> Result<Answer, ModelError> {
    use crate::reexports::retry_runtime::macro_support as __retry;
    use crate::reexports::retry_runtime::macro_support::keys::{
        max as _, backoff as _, base as _, factor as _, cap as _, jitter as _, on as _,
        until as _, hint as _, max_hint as _, timeout as _, deadline as _,
        total_delay as _, enabled as _, idempotent as _, throttled as _, max as _,
        base as _, attempt as _, before_pause as _, before_retry as _, fallback as _,
        repeats as _, observe as _, name as _, timer as _, crate_ as _,
    };
    const __RETRY_POLICY: __retry::Policy = __retry::policy_of(
            __retry::Section::new()
                .backoff(__retry::Backoff::Exponential)
                .base(::core::time::Duration::new(0u64, 250000000u32))
                .factor(1.5f64)
                .cap(::core::time::Duration::new(10u64, 0u32))
                .jitter(__retry::Jitter::Ratio(0.2f64)),
        )
        .hint(__retry::Hint::Honor)
        .max_hint(::core::time::Duration::new(120u64, 0u32))
        .total_delay(::core::time::Duration::new(60u64, 0u32))
        .throttled(
            __retry::Section::new()
                .max(10u32)
                .base(::core::time::Duration::new(5u64, 0u32)),
        );
    let retry_timer = __retry::IntoTimer::into_timer(SmolTimer);
    let retry_call = &mut __retry::Driver::new((), &retry_timer);
    retry_call
        .begin_under(
            &__RETRY_POLICY
                .max(__retry::Count::count(limits.turns))
                .enabled(limits.retries_on),
        );
    retry_call.set_deadline(__retry::TimeLimit::limit(limits.time));
    let mut retry_history = __retry::Attempt::<
        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
        _,
    >::before_first(__retry::Clock::Read(__retry::Timer::now(&retry_timer)), ());
    'retry_call: {
        let (retry_error, retry_reason) = 'retry_ended: {
            let retry_stop = 'retry_attempts: loop {
                while retry_call
                    .waits(
                        __retry::Reporter::observe(
                            __retry::Reporter::named("model.complete"),
                            &mut |event| log.push(event.to_string()),
                        ),
                    )
                {
                    let () = retry_call.wait(__retry::uncancelled()).await;
                }
                __retry::tick(&mut retry_history, &retry_timer);
                if let __retry::Some(retry_stop) = retry_call.stop() {
                    break 'retry_attempts retry_stop;
                }
                'retry_failed: {
                    __retry::Attempt::begin(&mut retry_history, retry_call.max());
                    let mut retry_dropped = false;
                    let mut retry_outcome: Result<Answer, ModelError> = __retry::in_time(
                            __retry::Some(::core::time::Duration::new(60u64, 0u32)),
                            &retry_timer,
                            ::core::pin::pin!(
                                async { if false { return __retry::never::<Result < Answer,
                                ModelError > > (); } { let attempt = & retry_history; {
                                ask(& prompt, attempt.number()). await } } }
                            ),
                            &mut retry_dropped,
                            |retry_end| __retry::FromTimedOut::from_timed_out(retry_end),
                        )
                        .await;
                    __retry::tick(&mut retry_history, &retry_timer);
                    match retry_outcome {
                        __retry::Ok(ref retry_value) => {
                            if __retry::accepts(
                                retry_value,
                                |answer| answer.is_complete(),
                            ) {} else {
                                let retry_decision = __retry::cold(|| {
                                    retry_call
                                        .failed(
                                            __retry::Failure::new(
                                                    &__retry::Site::new(
                                                        &__RETRY_POLICY
                                                            .max(__retry::Count::count(limits.turns))
                                                            .enabled(limits.retries_on),
                                                        "model.complete",
                                                    ),
                                                    __retry::Attempt::judged(
                                                        &retry_history,
                                                        __retry::Verdict::UNTIL,
                                                    ),
                                                    &__retry::REJECTED_VALUE,
                                                )
                                                .idempotent(false)
                                                .forgotten(),
                                            __retry::Reporter::observe(
                                                __retry::Reporter::named("model.complete"),
                                                &mut |event| log.push(event.to_string()),
                                            ),
                                        )
                                });
                                if __retry::Result::is_ok(&retry_decision) {
                                    __retry::Attempt::interrupted(&mut retry_history);
                                    break 'retry_failed;
                                }
                                break 'retry_call retry_outcome;
                            }
                            retry_call
                                .ok(
                                    __retry::Reporter::observe(
                                        __retry::Reporter::named("model.complete"),
                                        &mut |event| log.push(event.to_string()),
                                    ),
                                );
                        }
                        __retry::Err(retry_error) => {
                            let retry_decision = __retry::cold(|| {
                                let retry_asked = {
                                    let retry_said = __retry::answer(
                                        &retry_error,
                                        ModelError::is_retryable,
                                    );
                                    let retry_said = __retry::says::idempotent::said(
                                        retry_said,
                                    );
                                    let retry_said = __retry::says::throttled::said(retry_said);
                                    let retry_said = __retry::says::hint::said(retry_said);
                                    let retry_said = __retry::says::max_hint::said(retry_said);
                                    __retry::of_attempt(retry_said, retry_dropped)
                                };
                                retry_call
                                    .failed(
                                        __retry::Failure::new(
                                                &__retry::Site::new(
                                                    &__RETRY_POLICY
                                                        .max(__retry::Count::count(limits.turns))
                                                        .enabled(limits.retries_on),
                                                    "model.complete",
                                                ),
                                                __retry::Attempt::judged(&retry_history, retry_asked),
                                                __retry::show(&retry_error).__retry_show(),
                                            )
                                            .idempotent(false)
                                            .repeated(
                                                __retry::is_repeated(
                                                    &mut retry_history,
                                                    &retry_error,
                                                    3,
                                                    |retry_one, retry_other| {
                                                        __retry::same(retry_one).__retry_same(retry_other)
                                                    },
                                                ),
                                            )
                                            .ends_with(__retry::Ending::Fallback),
                                        __retry::Reporter::observe(
                                            __retry::Reporter::named("model.complete"),
                                            &mut |event| log.push(event.to_string()),
                                        ),
                                    )
                            });
                            match retry_decision {
                                __retry::Ok(retry_pause) => {
                                    __retry::Attempt::failed(&mut retry_history, retry_error);
                                    __retry::Attempt::paused(&mut retry_history, retry_pause);
                                    break 'retry_failed;
                                }
                                __retry::Err(retry_reason) => {
                                    break 'retry_ended (retry_error, retry_reason);
                                }
                            }
                        }
                    }
                    break 'retry_call retry_outcome;
                }
                if let __retry::Some(retry_hook) = retry_call
                    .hook_on(__retry::Attempt::last_failure(&retry_history))
                {
                    let retry_hooked = __retry::hook(
                            retry_hook,
                            async |error, next| countdown(error, next.pause()).await,
                        )
                        .await;
                    retry_call.hooked(retry_hooked);
                }
                while retry_call.pauses() {
                    let () = retry_call.wait(__retry::uncancelled()).await;
                }
                if let __retry::Some(retry_hook) = retry_call
                    .hook_on(__retry::Attempt::last_failure(&retry_history))
                {
                    let retry_hooked = __retry::hook(
                            retry_hook,
                            async |error, _next| refresh(error).await,
                        )
                        .await;
                    retry_call.hooked(retry_hooked);
                }
            };
            let retry_error = __retry::last(
                __retry::Attempt::take_last_failure(&mut retry_history),
            );
            retry_call
                .stopped(
                    &retry_stop,
                    __retry::show(&retry_error).__retry_show(),
                    __retry::Ending::Fallback,
                    __retry::Reporter::observe(
                        __retry::Reporter::named("model.complete"),
                        &mut |event| log.push(event.to_string()),
                    ),
                );
            break 'retry_ended (retry_error, __retry::Stop::reason(&retry_stop));
        };
        let retry_attempts = __retry::Attempt::begun(&retry_history);
        let retry_gave_up = __retry::Attempt::gave_up(
            retry_history,
            retry_error,
            retry_reason,
        );
        let retry_outcome: Result<Answer, ModelError> = {
            __retry::fall_back(retry_gave_up, async |gave_up| other_model(gave_up).await)
                .await
        };
        retry_call
            .fell_back(
                retry_attempts,
                &retry_outcome,
                |retry_error, retry_with| retry_with(
                    __retry::show(retry_error).__retry_show(),
                ),
                __retry::Reporter::observe(
                    __retry::Reporter::named("model.complete"),
                    &mut |event| log.push(event.to_string()),
                ),
            );
        break 'retry_call retry_outcome;
    }
}
