//! Call sites: the attribute's loop in an expression.
async fn complete(client: &Client, prompt: &str) -> Result<Completion, ModelError> {
    let response = {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{max as _, on as _};
        __retry::lazy(async {
            fn __retry_name() -> &'static ::core::primitive::str {
                __retry::surroundings(&__retry_name)
            }
            __retry::expect_timer();
            let mut retry_call = __retry::Retries::new();
            'retry_call: loop {
                let retry_pause = 'retry_pause: {
                    let mut retry_outcome: __retry::Result<_, _> = async {
                        if false {
                            return __retry::never_by(is_retryable);
                        }
                        { client.post(prompt).await?.json().await }
                    }
                        .await;
                    let retry_site = const {
                        &__retry::Site::named_by(
                            const {
                                &__retry::policy_of(__retry::Section::new().max(5u32))
                            },
                            __retry_name,
                        )
                    };
                    match retry_outcome {
                        __retry::Ok(_) => {
                            retry_call.healed(retry_site);
                        }
                        __retry::Err(retry_error) => {
                            if let __retry::Some(retry_pause) = __retry::cold_at(
                                retry_site,
                                |retry_site| {
                                    retry_call
                                        .failed_plainly(
                                            retry_site,
                                            __retry::IntoVerdict::into_verdict(
                                                __retry::answer(&retry_error, is_retryable),
                                            ),
                                            __retry::show(&retry_error).__retry_show(),
                                        )
                                },
                            ) {
                                retry_call = retry_call.next();
                                break 'retry_pause retry_pause;
                            }
                            retry_outcome = __retry::Err(retry_error);
                        }
                    }
                    break 'retry_call retry_outcome;
                };
                let () = __retry::sleep(retry_pause, __retry::Features).await;
            }
        })
    };
    response.await
}
async fn owned(client: Client) -> Result<Completion, ModelError> {
    spawn({
            use ::retry_runtime::macro_support as __retry;
            use ::retry_runtime::macro_support::keys::name as _;
            __retry::lazy(async move {
                __retry::expect_timer();
                let mut retry_call = __retry::Retries::new();
                'retry_call: loop {
                    let retry_pause = 'retry_pause: {
                        let mut retry_outcome: Result<_, ModelError> = async {
                            if false {
                                return __retry::never::<Result<_, ModelError>>();
                            }
                            { client.post().await }
                        }
                            .await;
                        let retry_site = const {
                            &__retry::Site::new(
                                const { &__retry::Policy::new() },
                                "model.complete",
                            )
                        };
                        match retry_outcome {
                            __retry::Ok(_) => {
                                retry_call.healed(retry_site);
                            }
                            __retry::Err(retry_error) => {
                                if let __retry::Some(retry_pause) = __retry::cold_at(
                                    retry_site,
                                    |retry_site| {
                                        retry_call
                                            .failed_plainly(
                                                retry_site,
                                                __retry::classify(&retry_error),
                                                __retry::show(&retry_error).__retry_show(),
                                            )
                                    },
                                ) {
                                    retry_call = retry_call.next();
                                    break 'retry_pause retry_pause;
                                }
                                retry_outcome = __retry::Err(retry_error);
                            }
                        }
                        break 'retry_call retry_outcome;
                    };
                    let () = __retry::sleep(retry_pause, __retry::Features).await;
                }
            })
        })
        .await
}
fn parsed(text: &mut String) -> Option<u32> {
    {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{attempt as _, on as _};
        fn __retry_name() -> &'static ::core::primitive::str {
            __retry::surroundings(&__retry_name)
        }
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::named_by(
            &__retry::Policy::new(),
            __retry_name,
        );
        let mut retry_call = __retry::Retries::new();
        let mut retry_history = __retry::Attempt::<
            <__retry::Result<(), ParseError> as __retry::OutcomeTypes>::Error,
            _,
        >::before_first(__retry::Clock::None, ());
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                __retry::Attempt::begin(
                    &mut retry_history,
                    __retry::Call::limit(&retry_call.whole(__RETRY_SITE)),
                );
                #[allow(clippy::redundant_closure_call)]
                let mut retry_outcome: __retry::Result<_, ParseError> = (|| -> __retry::Result<
                    _,
                    ParseError,
                > {
                    {
                        let attempt = &retry_history;
                        {
                            text.push(digit(attempt.number()));
                            text.parse()
                        }
                    }
                })();
                match retry_outcome {
                    __retry::Ok(_) => {
                        retry_call.healed(__RETRY_SITE);
                    }
                    __retry::Err(retry_error) => {
                        if let __retry::Some(retry_pause) = __retry::cold(|| {
                            retry_call
                                .failed_plainly(
                                    __RETRY_SITE,
                                    __retry::IntoVerdict::into_verdict(
                                        __retry::answer(&retry_error, |_: &ParseError| true),
                                    ),
                                    __retry::show(&retry_error).__retry_show(),
                                )
                        }) {
                            retry_call = retry_call.next();
                            __retry::Attempt::failed(&mut retry_history, retry_error);
                            break 'retry_pause retry_pause;
                        }
                        retry_outcome = __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            __retry::BlockingTimer::sleep(&__retry::DefaultTimer, retry_pause);
        }
    }
        .ok()
}
async fn asked(client: &Client) -> anyhow::Result<Completion> {
    {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{on as _, attempt as _, breaker as _};
        __retry::lazy(async {
            fn __retry_name() -> &'static ::core::primitive::str {
                __retry::surroundings(&__retry_name)
            }
            const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::named_by(
                &__retry::Policy::new(),
                __retry_name,
            );
            __retry::expect_timer();
            let mut retry_call = __retry::Retries::new();
            let retry_error_type = __retry::error_type_by(is_retryable);
            let mut retry_history = __retry::Attempt::<
                <__retry::Result<(), _> as __retry::OutcomeTypes>::Error,
                _,
            >::before_first(__retry::Clock::None, ());
            __retry::has_error_type(retry_error_type, &retry_history);
            'retry_call: loop {
                let retry_pause = 'retry_pause: {
                    let retry_by = 'retry_gate: {
                        let mut retry_permit = __retry::Permit::unasked(&BREAKER);
                        __retry::held(&retry_permit).__retry_is_shared();
                        if !__retry::Permit::admit(&mut retry_permit) {
                            break 'retry_gate __retry::RejectedBy::Breaker;
                        }
                        if let __retry::Some(retry_turned) = __retry::Permit::transition(
                            &retry_permit,
                        ) {
                            __retry::Call::breaker_changed(
                                &retry_call.whole(__RETRY_SITE),
                                __retry_name(),
                                retry_turned,
                                __retry::None,
                                __retry::None,
                            );
                        }
                        __retry::Attempt::begin(
                            &mut retry_history,
                            __retry::Call::limit(&retry_call.whole(__RETRY_SITE)),
                        );
                        let mut retry_outcome: __retry::Result<_, _> = __retry::beside(
                                async {
                                    if false {
                                        return __retry::never_by(is_retryable);
                                    }
                                    {
                                        let attempt = &retry_history;
                                        {
                                            let answer = client.ask(attempt.last_error()).await?;
                                            Ok(answer.text)
                                        }
                                    }
                                },
                                &retry_permit,
                            )
                            .await;
                        if false {
                            __retry::has_error_type(retry_error_type, &retry_outcome);
                        }
                        match retry_outcome {
                            __retry::Ok(_) => {
                                if let __retry::Some(retry_turned) = __retry::Permit::succeeded(
                                    &mut retry_permit,
                                ) {
                                    __retry::Call::breaker_changed(
                                        &retry_call.whole(__RETRY_SITE),
                                        __retry_name(),
                                        retry_turned,
                                        __retry::None,
                                        __retry::None,
                                    );
                                }
                                retry_call.healed(__RETRY_SITE);
                            }
                            __retry::Err(retry_error) => {
                                let mut retry_next = retry_call;
                                let retry_decision = __retry::cold(|| {
                                    #[allow(clippy::let_and_return)]
                                    let retry_decision = __retry::Retries::failed_with(
                                        &mut retry_next,
                                        __retry::Failure::new(
                                                __RETRY_SITE,
                                                __retry::IntoVerdict::into_verdict(
                                                    __retry::answer(&retry_error, is_retryable),
                                                ),
                                                __retry::show(
                                                        __retry::of_error_type(retry_error_type, &retry_error),
                                                    )
                                                    .__retry_show(),
                                            )
                                            .permit(&mut retry_permit),
                                    );
                                    retry_decision
                                });
                                retry_call = retry_next;
                                if let __retry::Ok(retry_pause) = retry_decision {
                                    __retry::Attempt::failed(&mut retry_history, retry_error);
                                    break 'retry_pause retry_pause;
                                }
                                retry_outcome = __retry::Err(retry_error);
                            }
                        }
                        break 'retry_call retry_outcome;
                    };
                    let retry_why = __retry::Rejected::reason(
                        __retry::Rejected::new(retry_by),
                    );
                    let retry_error: <__retry::Result<
                        (),
                        _,
                    > as __retry::OutcomeTypes>::Error = match __retry::Attempt::take_last_failure(
                        &mut retry_history,
                    ) {
                        __retry::Some(retry_error) => retry_error,
                        __retry::None => {
                            __retry::FromRejected::from_rejected(
                                __retry::Rejected::new(retry_by),
                            )
                        }
                    };
                    {
                        __retry::Call::ended_after_pause(
                            &retry_call.whole(__RETRY_SITE),
                            __retry_name(),
                            __retry::show(
                                    __retry::of_error_type(retry_error_type, &retry_error),
                                )
                                .__retry_show(),
                            __retry::Values::Taken,
                            __retry::Ending::Error,
                            retry_why,
                            __retry::None,
                        );
                    }
                    let retry_outcome = __retry::Err(retry_error);
                    break 'retry_call retry_outcome;
                };
                let () = __retry::sleep(retry_pause, __retry::Features).await;
            }
        })
    }
        .await
}
