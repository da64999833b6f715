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
    let retry_deadline;
    #[allow(clippy::match_single_binding)]
    match &__RETRY_POLICY.max(__retry::count(limits.turns)).enabled(limits.retries_on) {
        retry_numbers => {
            retry_call = __retry::call_under(__retry::max(retry_numbers));
            retry_deadline = __retry::deadline(
                limits.time,
                || __retry::Timer::now(&__retry::timer(SmolTimer)),
            );
        }
    }
    let mut retry_history = __retry::history::<
        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
    >(__retry::clock_at(__retry::Timer::now(&__retry::timer(SmolTimer))));
    'retry_call: loop {
        let retry_timer;
        let retry_failed;
        let retry_pause = 'retry_pause: {
            __retry::begin(&mut retry_history, __retry::max_of(&retry_call));
            {
                let mut retry_observer = __retry::observe_fn(|event| {
                    log.push(event.to_string())
                });
                __retry::Call::started(
                    &retry_call,
                    "model.complete",
                    &mut retry_observer,
                );
            }
            let retry_timeout = __retry::timeout(
                ::core::time::Duration::new(60u64, 0u32),
            );
            let retry_finished = {
                let retry_attempt = ::core::pin::pin!(
                    async { if false { return __retry::never::<Result < Answer,
                    ModelError > > (); } { let attempt = & retry_history; { ask(& prompt,
                    attempt.number()). await } } }
                );
                let retry_sleep = ::core::pin::pin!(
                    __retry::sleep_out(__retry::timer(SmolTimer), retry_timeout)
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
                        if !__retry::accepts(
                            &retry_value,
                            |answer| answer.is_complete(),
                        ) {
                            break 'retry_judged __retry::Ok(retry_value);
                        }
                        retry_outcome = __retry::Ok(retry_value);
                        {
                            let mut retry_observer = __retry::observe_fn(|event| {
                                log.push(event.to_string())
                            });
                            __retry::succeeded(
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
            retry_timer = __retry::timer(SmolTimer);
            match retry_failure {
                __retry::Ok(retry_value) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        let mut retry_observer = __retry::observe_fn(|event| {
                            log.push(event.to_string())
                        });
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
                            __retry::Failure::new(
                                    &__retry::Site::new(
                                        &__RETRY_POLICY
                                            .max(__retry::count(limits.turns))
                                            .enabled(limits.retries_on),
                                        "model.complete",
                                    ),
                                    __retry::judged(
                                        &retry_history,
                                        __retry::Verdict::TRANSIENT,
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
                        __retry::rejected(&mut retry_history);
                        retry_failed = false;
                        break 'retry_pause retry_pause;
                    }
                    retry_outcome = __retry::Ok(retry_value);
                }
                __retry::Err(retry_error) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        let mut retry_observer = __retry::observe_fn(|event| {
                            log.push(event.to_string())
                        });
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
                        #[allow(clippy::match_single_binding)]
                        match &__RETRY_POLICY
                            .max(__retry::count(limits.turns))
                            .enabled(limits.retries_on)
                        {
                            retry_numbers => {
                                #[allow(clippy::let_and_return)]
                                let retry_decision = __retry::Call::failed_with(
                                    &mut retry_next,
                                    __retry::Failure::new(
                                            &__retry::Site::new(retry_numbers, "model.complete"),
                                            __retry::judged(
                                                &retry_history,
                                                __retry::verdict_under(retry_numbers, retry_asked),
                                            ),
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
                            }
                        }
                    });
                    retry_call = retry_next;
                    match retry_decision {
                        __retry::Ok(retry_pause) => {
                            __retry::failed(&mut retry_history, retry_error);
                            __retry::paused(&mut retry_history, &retry_pause);
                            retry_failed = true;
                            break 'retry_pause retry_pause;
                        }
                        __retry::Err(retry_reason) => {
                            __retry::tick(
                                &mut retry_history,
                                __retry::Timer::now(&retry_timer),
                            );
                            retry_outcome = {
                                let retry_attempts = __retry::attempts(&retry_history);
                                let retry_fallen: __retry::Result<
                                    <Result<
                                        Answer,
                                        ModelError,
                                    > as __retry::OutcomeTypes>::Value,
                                    <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                > = {
                                    __retry::fall_back(
                                            __retry::gave_up(retry_history, retry_error, retry_reason),
                                            async |gave_up| other_model(gave_up).await,
                                        )
                                        .await
                                };
                                {
                                    let mut retry_observer = __retry::observe_fn(|event| {
                                        log.push(event.to_string())
                                    });
                                    match &retry_fallen {
                                        __retry::Ok(_) => {
                                            __retry::fell_back(
                                                &retry_call,
                                                "model.complete",
                                                retry_attempts,
                                                __retry::Some(&mut retry_observer),
                                            )
                                        }
                                        __retry::Err(retry_error) => {
                                            __retry::fallback_failed(
                                                &retry_call,
                                                "model.complete",
                                                retry_attempts,
                                                __retry::show(retry_error).__retry_show(),
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
        let retry_cause = match __retry::last_error(&retry_history, retry_failed) {
            __retry::Some(retry_error) => {
                __retry::hook_cause({
                    __retry::hook(
                            retry_error,
                            __retry::next_attempt(&retry_call, retry_pause),
                            async |error, next| countdown(error, next.pause()).await,
                        )
                        .await
                })
            }
            __retry::None => __retry::None,
        };
        if let __retry::Some(retry_cause) = retry_cause {
            if let __retry::Some(retry_error) = __retry::take_last_error(
                &mut retry_history,
                retry_failed,
            ) {
                {
                    let mut retry_observer = __retry::observe_fn(|event| {
                        log.push(event.to_string())
                    });
                    __retry::falling_back(
                        &retry_call,
                        "model.complete",
                        &__retry::Caused(
                            __retry::show(&retry_error).__retry_show(),
                            &retry_cause,
                        ),
                        __retry::Values::Taken,
                        __retry::Reason::HookFailed,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::tick(&mut retry_history, __retry::Timer::now(&retry_timer));
                let retry_reason = __retry::Reason::HookFailed;
                let retry_outcome = {
                    let retry_attempts = __retry::attempts(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::gave_up(retry_history, retry_error, retry_reason),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::observe_fn(|event| {
                            log.push(event.to_string())
                        });
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::fell_back(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::fallback_failed(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::show(retry_error).__retry_show(),
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
            __retry::last_error(&retry_history, retry_failed)
        } {
            __retry::Some(retry_error) => {
                __retry::hook_cause({
                    __retry::hook(
                            retry_error,
                            __retry::next_attempt(&retry_call, retry_pause),
                            async |error, _next| refresh(error).await,
                        )
                        .await
                })
            }
            __retry::None => __retry::None,
        };
        if let __retry::Some(retry_cause) = retry_cause {
            if let __retry::Some(retry_error) = __retry::take_last_error(
                &mut retry_history,
                retry_failed,
            ) {
                {
                    let mut retry_observer = __retry::observe_fn(|event| {
                        log.push(event.to_string())
                    });
                    __retry::falling_back(
                        &retry_call,
                        "model.complete",
                        &__retry::Caused(
                            __retry::show(&retry_error).__retry_show(),
                            &retry_cause,
                        ),
                        __retry::Values::Taken,
                        __retry::Reason::HookFailed,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::tick(&mut retry_history, __retry::Timer::now(&retry_timer));
                let retry_reason = __retry::Reason::HookFailed;
                let retry_outcome = {
                    let retry_attempts = __retry::attempts(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::gave_up(retry_history, retry_error, retry_reason),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::observe_fn(|event| {
                            log.push(event.to_string())
                        });
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::fell_back(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::fallback_failed(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::show(retry_error).__retry_show(),
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
            if let __retry::Some(retry_error) = __retry::take_last_error(
                &mut retry_history,
                retry_failed,
            ) {
                {
                    let mut retry_observer = __retry::observe_fn(|event| {
                        log.push(event.to_string())
                    });
                    __retry::falling_back(
                        &retry_call,
                        "model.complete",
                        __retry::show(&retry_error).__retry_show(),
                        __retry::Values::Taken,
                        retry_why,
                        __retry::Some(&mut retry_observer),
                    );
                }
                __retry::tick(&mut retry_history, __retry::Timer::now(&retry_timer));
                let retry_reason = retry_why;
                let retry_outcome = {
                    let retry_attempts = __retry::attempts(&retry_history);
                    let retry_fallen: __retry::Result<
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                    > = {
                        __retry::fall_back(
                                __retry::gave_up(retry_history, retry_error, retry_reason),
                                async |gave_up| other_model(gave_up).await,
                            )
                            .await
                    };
                    {
                        let mut retry_observer = __retry::observe_fn(|event| {
                            log.push(event.to_string())
                        });
                        match &retry_fallen {
                            __retry::Ok(_) => {
                                __retry::fell_back(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::Some(&mut retry_observer),
                                )
                            }
                            __retry::Err(retry_error) => {
                                __retry::fallback_failed(
                                    &retry_call,
                                    "model.complete",
                                    retry_attempts,
                                    __retry::show(retry_error).__retry_show(),
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
        __retry::tick(&mut retry_history, __retry::Timer::now(&retry_timer));
    }
}
