//! Every key that can stand beside the others.
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
    let mut retry_call;
    let mut retry_stopwatch;
    let retry_deadline;
    #[allow(clippy::match_single_binding)]
    match &__RETRY_POLICY
        .max(__retry::Count::count(limits.turns))
        .enabled(limits.retries_on)
    {
        retry_numbers => {
            retry_call = __retry::Call::new().with_max(__retry::max(retry_numbers));
            retry_stopwatch = __retry::Stopwatch::new();
            retry_deadline = __retry::deadline(
                limits.time,
                || __retry::Timer::now(&__retry::IntoTimer::into_timer(SmolTimer)),
            );
        }
    }
    let mut retry_history = __retry::Attempt::<
        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
        _,
    >::before_first(
        __retry::Clock::Read(
            __retry::Timer::now(&__retry::IntoTimer::into_timer(SmolTimer)),
        ),
        (),
    );
    'retry_call: loop {
        let retry_timer;
        let retry_pause = 'retry_pause: {
            __retry::Attempt::begin(
                &mut retry_history,
                __retry::Call::limit(&retry_call),
            );
            {
                let mut retry_observer = __retry::timed(
                    |event| log.push(event.to_string()),
                    &mut retry_stopwatch,
                    || __retry::Timer::now(&__retry::IntoTimer::into_timer(SmolTimer)),
                );
                __retry::Call::started(
                    &retry_call,
                    "model.complete",
                    &mut retry_observer,
                );
            }
            let retry_timeout = __retry::TimeLimit::limit(
                ::core::time::Duration::new(60u64, 0u32),
            );
            let retry_finished = {
                let retry_attempt = ::core::pin::pin!(
                    async { if false { return __retry::never::<Result < Answer,
                    ModelError > > (); } { let attempt = & retry_history; { ask(& prompt,
                    attempt.number()). await } } }
                );
                let retry_sleep = ::core::pin::pin!(
                    __retry::sleep_out(__retry::IntoTimer::into_timer(SmolTimer),
                    retry_timeout)
                );
                #[allow(clippy::let_and_return)]
                let retry_finished = __retry::race(retry_attempt, retry_sleep).await;
                retry_finished
            };
            let retry_dropped = __retry::Option::is_none(&retry_finished);
            let mut retry_outcome: Result<Answer, ModelError> = match retry_finished {
                __retry::Some(retry_outcome) => retry_outcome,
                __retry::None => {
                    __retry::Err(
                        __retry::FromTimedOut::from_timed_out(
                            __retry::TimedOut::new(
                                __retry::Option::unwrap_or_default(retry_timeout),
                            ),
                        ),
                    )
                }
            };
            let retry_failure = 'retry_judged: {
                match retry_outcome {
                    __retry::Ok(retry_value) => {
                        if __retry::accepts(
                            &retry_value,
                            |answer| answer.is_complete(),
                        ) {} else {
                            break 'retry_judged __retry::Ok(retry_value);
                        }
                        retry_outcome = __retry::Ok(retry_value);
                        {
                            let mut retry_observer = __retry::timed(
                                |event| log.push(event.to_string()),
                                &mut retry_stopwatch,
                                || __retry::Timer::now(
                                    &__retry::IntoTimer::into_timer(SmolTimer),
                                ),
                            );
                            __retry::Call::report_success(
                                &retry_call,
                                "model.complete",
                                &mut retry_observer,
                            );
                        }
                    }
                    __retry::Err(retry_error) => {
                        break 'retry_judged __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            retry_timer = __retry::IntoTimer::into_timer(SmolTimer);
            match retry_failure {
                __retry::Ok(retry_value) => {
                    retry_outcome = __retry::Ok(retry_value);
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
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
                                .deadline(
                                    retry_deadline,
                                    || __retry::Timer::now(&retry_timer),
                                )
                                .idempotent(false)
                                .observe(&mut retry_observer),
                        );
                        retry_decision
                    });
                    retry_call = retry_next;
                    if let __retry::Ok(retry_pause) = retry_decision {
                        __retry::Attempt::interrupted(&mut retry_history);
                        break 'retry_pause retry_pause;
                    }
                }
                __retry::Err(retry_error) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        let retry_asked = __retry::of_attempt(
                            __retry::IntoVerdict::into_verdict(
                                __retry::says::max_hint::said(
                                    __retry::says::hint::said(
                                        __retry::says::throttled::said(
                                            __retry::says::idempotent::said(
                                                __retry::answer(&retry_error, ModelError::is_retryable),
                                            ),
                                        ),
                                    ),
                                ),
                            ),
                            retry_dropped,
                        );
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
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
                                .deadline(
                                    retry_deadline,
                                    || __retry::Timer::now(&retry_timer),
                                )
                                .idempotent(false)
                                .observe(&mut retry_observer)
                                .repeated(
                                    __retry::is_repeated(
                                        &mut retry_history,
                                        &retry_error,
                                        3,
                                        |retry_one, retry_other| {
                                            use __retry::{
                                                SameDebug as _, SameDisplay as _, SameValue as _,
                                            };
                                            (&&&__retry::Same(retry_one)).__retry_same(retry_other)
                                        },
                                    ),
                                )
                                .falls_back(),
                        );
                        retry_decision
                    });
                    retry_call = retry_next;
                    match retry_decision {
                        __retry::Ok(retry_pause) => {
                            __retry::Attempt::failed(&mut retry_history, retry_error);
                            __retry::Attempt::paused(&mut retry_history, retry_pause);
                            break 'retry_pause retry_pause;
                        }
                        __retry::Err(retry_reason) => {
                            __retry::Attempt::tick(
                                &mut retry_history,
                                __retry::Timer::now(&retry_timer),
                            );
                            retry_outcome = {
                                let retry_attempts = __retry::Attempt::begun(
                                    &retry_history,
                                );
                                let retry_fallen: __retry::Result<
                                    <Result<
                                        Answer,
                                        ModelError,
                                    > as __retry::OutcomeTypes>::Value,
                                    <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                > = {
                                    __retry::fall_back(
                                            __retry::Attempt::gave_up(
                                                retry_history,
                                                retry_error,
                                                retry_reason,
                                            ),
                                            async |gave_up| other_model(gave_up).await,
                                        )
                                        .await
                                };
                                {
                                    let mut retry_observer = __retry::timed(
                                        |event| log.push(event.to_string()),
                                        &mut retry_stopwatch,
                                        || __retry::Timer::now(
                                            &__retry::IntoTimer::into_timer(SmolTimer),
                                        ),
                                    );
                                    match &retry_fallen {
                                        __retry::Ok(_) => {
                                            __retry::Call::fallback_ended(
                                                &retry_call,
                                                "model.complete",
                                                retry_attempts,
                                                __retry::Ok(()),
                                                __retry::Some(&mut retry_observer),
                                            )
                                        }
                                        __retry::Err(retry_error) => {
                                            __retry::Call::fallback_ended(
                                                &retry_call,
                                                "model.complete",
                                                retry_attempts,
                                                __retry::Err(__retry::show(retry_error).__retry_show()),
                                                __retry::Some(&mut retry_observer),
                                            )
                                        }
                                    }
                                }
                                retry_fallen
                            };
                        }
                    }
                }
            }
            break 'retry_call retry_outcome;
        };
        let retry_cause = match __retry::Attempt::last_failure(&retry_history) {
            __retry::Some(retry_error) => {
                __retry::HookOutcome::cause({
                    __retry::hook(
                            retry_error,
                            __retry::NextAttempt::new(
                                __retry::Call::attempt(&retry_call),
                                retry_pause,
                            ),
                            async |error, next| countdown(error, next.pause()).await,
                        )
                        .await
                })
            }
            __retry::None => __retry::None,
        };
        if let __retry::Some(retry_cause) = retry_cause {
            if let __retry::Some(retry_error) = __retry::Attempt::take_last_failure(
                &mut retry_history,
            ) {
                {
                    let mut retry_observer = __retry::timed(
                        |event| log.push(event.to_string()),
                        &mut retry_stopwatch,
                        || __retry::Timer::now(
                            &__retry::IntoTimer::into_timer(SmolTimer),
                        ),
                    );
                    __retry::Call::ended_after_pause(
                        &retry_call,
                        "model.complete",
                        &__retry::Caused(
                            __retry::show(&retry_error).__retry_show(),
                            &retry_cause,
                        ),
                        __retry::Values::Taken,
                        __retry::Ending::Fallback,
                        __retry::Reason::HookFailed,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::Attempt::tick(
                    &mut retry_history,
                    __retry::Timer::now(&retry_timer),
                );
                let retry_reason = __retry::Reason::HookFailed;
                let retry_outcome = {
                    let retry_attempts = __retry::Attempt::begun(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::Attempt::gave_up(
                                    retry_history,
                                    retry_error,
                                    retry_reason,
                                ),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Ok(()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Err(__retry::show(retry_error).__retry_show()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                        }
                    }
                    retry_fallen
                };
                break 'retry_call retry_outcome;
            }
        }
        if let __retry::Some(retry_why) = __retry::outlasts(
            retry_deadline,
            retry_pause,
            || __retry::Timer::now(&retry_timer),
        ) {
            if let __retry::Some(retry_error) = __retry::Attempt::take_last_failure(
                &mut retry_history,
            ) {
                {
                    let mut retry_observer = __retry::timed(
                        |event| log.push(event.to_string()),
                        &mut retry_stopwatch,
                        || __retry::Timer::now(
                            &__retry::IntoTimer::into_timer(SmolTimer),
                        ),
                    );
                    __retry::Call::ended_after_pause(
                        &retry_call,
                        "model.complete",
                        __retry::show(&retry_error).__retry_show(),
                        __retry::Values::Taken,
                        __retry::Ending::Fallback,
                        retry_why,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::Attempt::tick(
                    &mut retry_history,
                    __retry::Timer::now(&retry_timer),
                );
                let retry_reason = retry_why;
                let retry_outcome = {
                    let retry_attempts = __retry::Attempt::begun(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::Attempt::gave_up(
                                    retry_history,
                                    retry_error,
                                    retry_reason,
                                ),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Ok(()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Err(__retry::show(retry_error).__retry_show()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                        }
                    }
                    retry_fallen
                };
                break 'retry_call retry_outcome;
            }
        }
        let () = __retry::Timer::sleep(&retry_timer, retry_pause).await;
        __retry::give_way().await;
        let retry_cause = match if __retry::Option::is_some(
            &__retry::late(
                retry_deadline,
                retry_pause,
                || __retry::Timer::now(&retry_timer),
            ),
        ) {
            __retry::None
        } else {
            __retry::Attempt::last_failure(&retry_history)
        } {
            __retry::Some(retry_error) => {
                __retry::HookOutcome::cause({
                    __retry::hook(
                            retry_error,
                            __retry::NextAttempt::new(
                                __retry::Call::attempt(&retry_call),
                                retry_pause,
                            ),
                            async |error, _next| refresh(error).await,
                        )
                        .await
                })
            }
            __retry::None => __retry::None,
        };
        if let __retry::Some(retry_cause) = retry_cause {
            if let __retry::Some(retry_error) = __retry::Attempt::take_last_failure(
                &mut retry_history,
            ) {
                {
                    let mut retry_observer = __retry::timed(
                        |event| log.push(event.to_string()),
                        &mut retry_stopwatch,
                        || __retry::Timer::now(
                            &__retry::IntoTimer::into_timer(SmolTimer),
                        ),
                    );
                    __retry::Call::ended_after_pause(
                        &retry_call,
                        "model.complete",
                        &__retry::Caused(
                            __retry::show(&retry_error).__retry_show(),
                            &retry_cause,
                        ),
                        __retry::Values::Taken,
                        __retry::Ending::Fallback,
                        __retry::Reason::HookFailed,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::Attempt::tick(
                    &mut retry_history,
                    __retry::Timer::now(&retry_timer),
                );
                let retry_reason = __retry::Reason::HookFailed;
                let retry_outcome = {
                    let retry_attempts = __retry::Attempt::begun(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::Attempt::gave_up(
                                    retry_history,
                                    retry_error,
                                    retry_reason,
                                ),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Ok(()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Err(__retry::show(retry_error).__retry_show()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                        }
                    }
                    retry_fallen
                };
                break 'retry_call retry_outcome;
            }
        }
        if let __retry::Some(retry_why) = __retry::late(
            retry_deadline,
            retry_pause,
            || __retry::Timer::now(&retry_timer),
        ) {
            if let __retry::Some(retry_error) = __retry::Attempt::take_last_failure(
                &mut retry_history,
            ) {
                {
                    let mut retry_observer = __retry::timed(
                        |event| log.push(event.to_string()),
                        &mut retry_stopwatch,
                        || __retry::Timer::now(
                            &__retry::IntoTimer::into_timer(SmolTimer),
                        ),
                    );
                    __retry::Call::ended_after_pause(
                        &retry_call,
                        "model.complete",
                        __retry::show(&retry_error).__retry_show(),
                        __retry::Values::Taken,
                        __retry::Ending::Fallback,
                        retry_why,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::Attempt::tick(
                    &mut retry_history,
                    __retry::Timer::now(&retry_timer),
                );
                let retry_reason = retry_why;
                let retry_outcome = {
                    let retry_attempts = __retry::Attempt::begun(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::Attempt::gave_up(
                                    retry_history,
                                    retry_error,
                                    retry_reason,
                                ),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::timed(
                            |event| log.push(event.to_string()),
                            &mut retry_stopwatch,
                            || __retry::Timer::now(
                                &__retry::IntoTimer::into_timer(SmolTimer),
                            ),
                        );
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Ok(()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::Call::fallback_ended(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Err(__retry::show(retry_error).__retry_show()),
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                        }
                    }
                    retry_fallen
                };
                break 'retry_call retry_outcome;
            }
        }
        __retry::Attempt::tick(&mut retry_history, __retry::Timer::now(&retry_timer));
    }
}
