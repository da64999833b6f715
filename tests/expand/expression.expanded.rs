//! Call sites: the attribute's loop in an expression.
async fn complete(client: &Client, prompt: &str) -> Result<Completion, ModelError> {
    let response = {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{max as _, on as _};
        async {
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
                let () = __retry::Timer::sleep(
                        &__retry::default_timer::<__retry::Features>(),
                        retry_pause,
                    )
                    .await;
            }
        }
    };
    response.await
}
async fn owned(client: Client) -> Result<Completion, ModelError> {
    spawn({
            use ::retry_runtime::macro_support as __retry;
            use ::retry_runtime::macro_support::keys::name as _;
            async move {
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
                    let () = __retry::Timer::sleep(
                            &__retry::default_timer::<__retry::Features>(),
                            retry_pause,
                        )
                        .await;
                }
            }
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
                    __retry::Call::max_retries(&retry_call.whole(__RETRY_SITE)),
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
        async {
            fn __retry_name() -> &'static ::core::primitive::str {
                __retry::surroundings(&__retry_name)
            }
            const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::named_by(
                &__retry::Policy::new(),
                __retry_name,
            );
            let (retry_values, retry_kinds) = __retry::given((&BREAKER,));
            let retry_call = &mut __retry::Driver::new(
                __retry::Protections::new()
                    .breaker(retry_kinds.0.__retry_shared(retry_values.0)),
                __retry::expected_timer::<__retry::Features>(),
            );
            retry_call.begin_under(__retry::Site::policy(__RETRY_SITE));
            let retry_error_type = __retry::error_type_by(is_retryable);
            let mut retry_history = __retry::Attempt::<
                <__retry::Result<(), _> as __retry::OutcomeTypes>::Error,
                _,
            >::before_first(__retry::Clock::None, ());
            __retry::has_error_type(retry_error_type, &retry_history);
            'retry_call: {
                let retry_stop = 'retry_attempts: loop {
                    while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                        let () = retry_call.wait(__retry::uncancelled()).await;
                    }
                    if let __retry::Some(retry_stop) = retry_call.stop() {
                        break 'retry_attempts retry_stop;
                    }
                    __retry::Attempt::begin(&mut retry_history, retry_call.max());
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
                            &retry_kinds,
                        )
                        .await;
                    if false {
                        __retry::has_error_type(retry_error_type, &retry_outcome);
                    }
                    match retry_outcome {
                        __retry::Ok(_) => {
                            retry_call.ok(__retry::Reporter::at(__RETRY_SITE))
                        }
                        __retry::Err(retry_error) => {
                            let retry_decision = __retry::cold(|| {
                                retry_call
                                    .failed(
                                        __retry::Failure::new(
                                            __RETRY_SITE,
                                            __retry::IntoVerdict::into_verdict(
                                                __retry::answer(&retry_error, is_retryable),
                                            ),
                                            __retry::show(
                                                    __retry::of_error_type(retry_error_type, &retry_error),
                                                )
                                                .__retry_show(),
                                        ),
                                        __retry::Reporter::at(__RETRY_SITE),
                                    )
                            });
                            if __retry::Result::is_ok(&retry_decision) {
                                __retry::Attempt::failed(&mut retry_history, retry_error);
                                continue 'retry_attempts;
                            }
                            break 'retry_call __retry::Err(retry_error);
                        }
                    }
                    break 'retry_call retry_outcome;
                };
                let retry_error = __retry::last_or_rejected(
                    __retry::Attempt::take_last_failure(&mut retry_history),
                    &retry_stop,
                );
                retry_call
                    .stopped(
                        &retry_stop,
                        __retry::show(
                                __retry::of_error_type(retry_error_type, &retry_error),
                            )
                            .__retry_show(),
                        __retry::Ending::Error,
                        __retry::Reporter::at(__RETRY_SITE),
                    );
                break 'retry_call __retry::Err(retry_error);
            }
        }
    }
        .await
}
