//! Every key that can stand beside the others.
async fn complete(
    prompt: String,
    limits: Limits,
    log: &mut Vec<String>,
) -> Result<Answer, ModelError> {
    let mut retry_call = crate::reexports::retry_runtime::macro_support::TrackedCall::new();
    let retry_deadline = crate::reexports::retry_runtime::macro_support::deadline(
        limits.time,
    );
    let mut retry_history = crate::reexports::retry_runtime::macro_support::history::<
        <Result<
            Answer,
            ModelError,
        > as crate::reexports::retry_runtime::macro_support::Outcome>::Error,
    >();
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
            crate::reexports::retry_runtime::macro_support::begin(
                &mut retry_history,
                crate::reexports::retry_runtime::macro_support::limit(
                    &const {
                        crate::reexports::retry_runtime::Policy::new()
                            .backoff(
                                crate::reexports::retry_runtime::Backoff::Exponential,
                            )
                            .base(::core::time::Duration::new(0u64, 250000000u32))
                            .factor(1.5f64)
                            .cap(::core::time::Duration::new(10u64, 0u32))
                            .jitter(
                                crate::reexports::retry_runtime::Jitter::Ratio(0.2f64),
                            )
                            .hint(crate::reexports::retry_runtime::Hint::Honor)
                            .max_hint(::core::time::Duration::new(120u64, 0u32))
                            .throttled(
                                crate::reexports::retry_runtime::Section::new()
                                    .max(10u32)
                                    .base(::core::time::Duration::new(5u64, 0u32)),
                            )
                    }
                        .max(
                            crate::reexports::retry_runtime::macro_support::count(
                                limits.turns,
                            ),
                        ),
                ),
            );
            {
                let mut retry_observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                    event|
                log.push(event.to_string()));
                crate::reexports::retry_runtime::macro_support::starting(
                    "model.complete",
                    crate::reexports::retry_runtime::macro_support::TrackedCall::attempt(
                        &retry_call,
                    ),
                    &mut retry_observer,
                );
            }
            let retry_timeout = crate::reexports::retry_runtime::macro_support::timeout(
                ::core::time::Duration::new(60u64, 0u32),
            );
            let retry_finished = {
                #[allow(clippy::redundant_closure_call)]
                let retry_attempt = ::core::pin::pin!(
                    async { if false { return crate
                    ::reexports::retry_runtime::macro_support::never:: < Result < Answer,
                    ModelError > > (); } let attempt = & retry_history; { ask(& prompt,
                    attempt.number()). await } }
                );
                let retry_sleep = ::core::pin::pin!(
                    crate ::reexports::retry_runtime::macro_support::sleep_out(crate
                    ::reexports::retry_runtime::macro_support::timer(SmolTimer),
                    retry_timeout)
                );
                #[allow(clippy::let_and_return)]
                let retry_finished = crate::reexports::retry_runtime::macro_support::race(
                        retry_attempt,
                        retry_sleep,
                    )
                    .await;
                retry_finished
            };
            let retry_dropped = ::core::option::Option::is_none(&retry_finished);
            let mut retry_outcome = match retry_finished {
                ::core::option::Option::Some(retry_outcome) => {
                    crate::reexports::retry_runtime::macro_support::into_result::<
                        Result<Answer, ModelError>,
                    >(retry_outcome)
                }
                ::core::option::Option::None => {
                    ::core::result::Result::Err(
                        crate::reexports::retry_runtime::macro_support::FromTimedOut::from_timed_out(
                            crate::reexports::retry_runtime::TimedOut::new(
                                ::core::option::Option::unwrap_or_default(retry_timeout),
                            ),
                        ),
                    )
                }
            };
            match retry_outcome {
                ::core::result::Result::Ok(ref retry_value) => {
                    if crate::reexports::retry_runtime::macro_support::accepts(
                        retry_value,
                        |answer| answer.is_complete(),
                    ) {
                        {
                            let mut retry_observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                                event|
                            log.push(event.to_string()));
                            crate::reexports::retry_runtime::macro_support::TrackedCall::succeeded(
                                retry_call,
                                crate::reexports::retry_runtime::macro_support::max(
                                    &const {
                                        crate::reexports::retry_runtime::Policy::new()
                                            .backoff(
                                                crate::reexports::retry_runtime::Backoff::Exponential,
                                            )
                                            .base(::core::time::Duration::new(0u64, 250000000u32))
                                            .factor(1.5f64)
                                            .cap(::core::time::Duration::new(10u64, 0u32))
                                            .jitter(
                                                crate::reexports::retry_runtime::Jitter::Ratio(0.2f64),
                                            )
                                            .hint(crate::reexports::retry_runtime::Hint::Honor)
                                            .max_hint(::core::time::Duration::new(120u64, 0u32))
                                            .throttled(
                                                crate::reexports::retry_runtime::Section::new()
                                                    .max(10u32)
                                                    .base(::core::time::Duration::new(5u64, 0u32)),
                                            )
                                    }
                                        .max(
                                            crate::reexports::retry_runtime::macro_support::count(
                                                limits.turns,
                                            ),
                                        ),
                                ),
                                "model.complete",
                                &mut retry_observer,
                            );
                        }
                    } else {
                        match {
                            let mut retry_next = retry_call;
                            let retry_decision = crate::reexports::retry_runtime::macro_support::cold(||
                            {
                                let mut retry_observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                                    event|
                                log.push(event.to_string()));
                                #[allow(clippy::let_and_return)]
                                let retry_decision = crate::reexports::retry_runtime::macro_support::TrackedCall::failed(
                                    &mut retry_next,
                                    crate::reexports::retry_runtime::macro_support::Failure::new(
                                            &crate::reexports::retry_runtime::macro_support::Site::new(
                                                &const {
                                                    crate::reexports::retry_runtime::Policy::new()
                                                        .backoff(
                                                            crate::reexports::retry_runtime::Backoff::Exponential,
                                                        )
                                                        .base(::core::time::Duration::new(0u64, 250000000u32))
                                                        .factor(1.5f64)
                                                        .cap(::core::time::Duration::new(10u64, 0u32))
                                                        .jitter(
                                                            crate::reexports::retry_runtime::Jitter::Ratio(0.2f64),
                                                        )
                                                        .hint(crate::reexports::retry_runtime::Hint::Honor)
                                                        .max_hint(::core::time::Duration::new(120u64, 0u32))
                                                        .throttled(
                                                            crate::reexports::retry_runtime::Section::new()
                                                                .max(10u32)
                                                                .base(::core::time::Duration::new(5u64, 0u32)),
                                                        )
                                                }
                                                    .max(
                                                        crate::reexports::retry_runtime::macro_support::count(
                                                            limits.turns,
                                                        ),
                                                    ),
                                                "model.complete",
                                            ),
                                            crate::reexports::retry_runtime::Verdict::TRANSIENT,
                                            &crate::reexports::retry_runtime::macro_support::REJECTED_VALUE,
                                        )
                                        .deadline(retry_deadline)
                                        .idempotent(false)
                                        .observe(&mut retry_observer),
                                );
                                retry_decision
                            });
                            retry_call = retry_next;
                            retry_decision
                        } {
                            ::core::result::Result::Ok(retry_pause) => {
                                crate::reexports::retry_runtime::macro_support::rejected(
                                    &mut retry_history,
                                );
                                break 'retry_pause retry_pause;
                            }
                            ::core::result::Result::Err(_) => {}
                        }
                    }
                }
                ::core::result::Result::Err(retry_error) => {
                    match {
                        let mut retry_next = retry_call;
                        let retry_decision = crate::reexports::retry_runtime::macro_support::cold(||
                        {
                            let mut retry_observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                                event|
                            log.push(event.to_string()));
                            #[allow(clippy::let_and_return)]
                            let retry_decision = crate::reexports::retry_runtime::macro_support::TrackedCall::failed(
                                &mut retry_next,
                                crate::reexports::retry_runtime::macro_support::Failure::new(
                                        &crate::reexports::retry_runtime::macro_support::Site::new(
                                            &const {
                                                crate::reexports::retry_runtime::Policy::new()
                                                    .backoff(
                                                        crate::reexports::retry_runtime::Backoff::Exponential,
                                                    )
                                                    .base(::core::time::Duration::new(0u64, 250000000u32))
                                                    .factor(1.5f64)
                                                    .cap(::core::time::Duration::new(10u64, 0u32))
                                                    .jitter(
                                                        crate::reexports::retry_runtime::Jitter::Ratio(0.2f64),
                                                    )
                                                    .hint(crate::reexports::retry_runtime::Hint::Honor)
                                                    .max_hint(::core::time::Duration::new(120u64, 0u32))
                                                    .throttled(
                                                        crate::reexports::retry_runtime::Section::new()
                                                            .max(10u32)
                                                            .base(::core::time::Duration::new(5u64, 0u32)),
                                                    )
                                            }
                                                .max(
                                                    crate::reexports::retry_runtime::macro_support::count(
                                                        limits.turns,
                                                    ),
                                                ),
                                            "model.complete",
                                        ),
                                        crate::reexports::retry_runtime::macro_support::of_attempt(
                                            crate::reexports::retry_runtime::macro_support::verdict(
                                                &retry_error,
                                                ModelError::is_retryable,
                                            ),
                                            retry_dropped,
                                        ),
                                        crate::reexports::retry_runtime::macro_support::show(
                                                &retry_error,
                                            )
                                            .__retry_show(),
                                    )
                                    .deadline(retry_deadline)
                                    .idempotent(false)
                                    .repeated(
                                        crate::reexports::retry_runtime::macro_support::is_repeated(
                                            &retry_history,
                                            &retry_error,
                                            3,
                                            |retry_one, retry_other| {
                                                use crate::reexports::retry_runtime::macro_support::{
                                                    SameDebug as _, SameDisplay as _, SameValue as _,
                                                };
                                                (&&&crate::reexports::retry_runtime::macro_support::Same(
                                                    retry_one,
                                                ))
                                                    .__retry_same(retry_other)
                                            },
                                        ),
                                    )
                                    .observe(&mut retry_observer),
                            );
                            retry_decision
                        });
                        retry_call = retry_next;
                        retry_decision
                    } {
                        ::core::result::Result::Ok(retry_pause) => {
                            crate::reexports::retry_runtime::macro_support::failed(
                                &mut retry_history,
                                retry_error,
                            );
                            break 'retry_pause retry_pause;
                        }
                        ::core::result::Result::Err(retry_reason) => {
                            retry_outcome = {
                                crate::reexports::retry_runtime::macro_support::fall_back(
                                        crate::reexports::retry_runtime::macro_support::gave_up(
                                            retry_history,
                                            retry_error,
                                            retry_reason,
                                        ),
                                        async |gave_up| other_model(gave_up).await,
                                    )
                                    .await
                            };
                        }
                    }
                }
            }
            break 'retry_call retry_outcome;
        };
        crate::reexports::retry_runtime::Timer::sleep(
                &crate::reexports::retry_runtime::macro_support::timer(SmolTimer),
                retry_pause,
            )
            .await;
    }
}
