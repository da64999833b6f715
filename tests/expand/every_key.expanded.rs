//! Every key that can stand beside the others.
async fn complete(
    prompt: String,
    limits: Limits,
    log: &mut Vec<String>,
) -> Result<Answer, ModelError> {
    let mut call = crate::reexports::retry_runtime::macro_support::TrackedCall::new();
    let deadline = crate::reexports::retry_runtime::macro_support::deadline(limits.time);
    let mut history = crate::reexports::retry_runtime::macro_support::history::<
        <Result<
            Answer,
            ModelError,
        > as crate::reexports::retry_runtime::macro_support::Outcome>::Error,
    >();
    loop {
        let pause = {
            crate::reexports::retry_runtime::macro_support::begin(
                &mut history,
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
                let mut observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                    event|
                log.push(event.to_string()));
                crate::reexports::retry_runtime::macro_support::starting(
                    "model.complete",
                    call.attempt(),
                    &mut observer,
                );
            }
            let timeout = crate::reexports::retry_runtime::macro_support::timeout(
                ::core::time::Duration::new(60u64, 0u32),
            );
            let finished = {
                #[allow(clippy::redundant_closure_call)]
                let attempt = ::core::pin::pin!(
                    async { #[allow(unknown_lints, unreachable_code,
                    clippy::diverging_sub_expression, clippy::empty_loop,
                    clippy::let_unit_value, clippy::let_with_type_underscore,
                    clippy::needless_return, clippy::unreachable)] if false { let outcome
                    : Result < Answer, ModelError > = loop {}; return outcome; } let
                    attempt = & history; { ask(& prompt, attempt.number()). await } }
                );
                let sleep = ::core::pin::pin!(
                    crate ::reexports::retry_runtime::macro_support::sleep_out(crate
                    ::reexports::retry_runtime::macro_support::timer(SmolTimer), timeout)
                );
                #[allow(clippy::let_and_return)]
                let finished = crate::reexports::retry_runtime::macro_support::race(
                        attempt,
                        sleep,
                    )
                    .await;
                finished
            };
            let dropped = ::core::option::Option::is_none(&finished);
            let outcome = match finished {
                ::core::option::Option::Some(outcome) => {
                    crate::reexports::retry_runtime::macro_support::into_result::<
                        Result<Answer, ModelError>,
                    >(outcome)
                }
                ::core::option::Option::None => {
                    ::core::result::Result::Err(
                        crate::reexports::retry_runtime::macro_support::FromTimedOut::from_timed_out(
                            crate::reexports::retry_runtime::TimedOut::new(
                                ::core::option::Option::unwrap_or_default(timeout),
                            ),
                        ),
                    )
                }
            };
            match outcome {
                ::core::result::Result::Ok(value) => {
                    if crate::reexports::retry_runtime::macro_support::accepts(
                        &value,
                        |answer| answer.is_complete(),
                    ) {
                        {
                            let mut observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                                event|
                            log.push(event.to_string()));
                            crate::reexports::retry_runtime::macro_support::succeeded(
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
                                call.attempt(),
                                ::core::option::Option::Some(&mut observer),
                            );
                        }
                        break ::core::result::Result::Ok(value);
                    }
                    let mut next = call;
                    let decision = crate::reexports::retry_runtime::macro_support::cold(||
                    {
                        let mut observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                            event|
                        log.push(event.to_string()));
                        #[allow(clippy::let_and_return)]
                        let decision = next
                            .failed(
                                crate::reexports::retry_runtime::macro_support::Failure::new(
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
                                        crate::reexports::retry_runtime::Verdict::TRANSIENT,
                                        "model.complete",
                                        &crate::reexports::retry_runtime::macro_support::REJECTED_VALUE,
                                    )
                                    .deadline(deadline)
                                    .idempotent(false)
                                    .observe(&mut observer),
                            );
                        decision
                    });
                    match decision {
                        ::core::result::Result::Ok(pause) => {
                            call = next;
                            crate::reexports::retry_runtime::macro_support::rejected(
                                &mut history,
                            );
                            pause
                        }
                        ::core::result::Result::Err(_) => {
                            break ::core::result::Result::Ok(value);
                        }
                    }
                }
                ::core::result::Result::Err(error) => {
                    let mut next = call;
                    let decision = crate::reexports::retry_runtime::macro_support::cold(||
                    {
                        #[allow(unused_imports)]
                        use crate::reexports::retry_runtime::macro_support::{
                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                        };
                        let mut observer = crate::reexports::retry_runtime::macro_support::observe_fn(|
                            event|
                        log.push(event.to_string()));
                        #[allow(clippy::let_and_return)]
                        let decision = next
                            .failed(
                                crate::reexports::retry_runtime::macro_support::Failure::new(
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
                                        crate::reexports::retry_runtime::macro_support::of_attempt(
                                            crate::reexports::retry_runtime::macro_support::verdict(
                                                &error,
                                                ModelError::is_retryable,
                                            ),
                                            dropped,
                                        ),
                                        "model.complete",
                                        &(&&&crate::reexports::retry_runtime::macro_support::Show(
                                            &error,
                                        ))
                                            .__retry_show(),
                                    )
                                    .deadline(deadline)
                                    .idempotent(false)
                                    .repeated(
                                        crate::reexports::retry_runtime::macro_support::is_repeated(
                                            &history,
                                            &error,
                                            3,
                                            |one, other| {
                                                use crate::reexports::retry_runtime::macro_support::{
                                                    SameDebug as _, SameDisplay as _, SameValue as _,
                                                };
                                                (&&&crate::reexports::retry_runtime::macro_support::Same(
                                                    one,
                                                ))
                                                    .__retry_same(other)
                                            },
                                        ),
                                    )
                                    .observe(&mut observer),
                            );
                        decision
                    });
                    match decision {
                        ::core::result::Result::Ok(pause) => {
                            call = next;
                            crate::reexports::retry_runtime::macro_support::failed(
                                &mut history,
                                error,
                            );
                            pause
                        }
                        ::core::result::Result::Err(reason) => {
                            break crate::reexports::retry_runtime::macro_support::fall_back(
                                    crate::reexports::retry_runtime::macro_support::gave_up(
                                        history,
                                        error,
                                        reason,
                                    ),
                                    async |gave_up| other_model(gave_up).await,
                                )
                                .await;
                        }
                    }
                }
            }
        };
        crate::reexports::retry_runtime::Timer::sleep(
                &crate::reexports::retry_runtime::macro_support::timer(SmolTimer),
                pause,
            )
            .await;
    }
}
