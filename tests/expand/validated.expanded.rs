//! A value that is validated: the body runs again with the complaint at hand.
fn extract(text: &str) -> Result<Answer, ModelError> {
    let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
    let mut retry_history = ::retry_runtime::macro_support::history_of::<
        <Result<Answer, ModelError> as ::retry_runtime::macro_support::Outcome>::Error,
        <Result<Answer, ModelError> as ::retry_runtime::macro_support::Outcome>::Value,
    >();
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
            ::retry_runtime::macro_support::begin(
                &mut retry_history,
                ::retry_runtime::macro_support::limit(const {
                    &::retry_runtime::Policy::new()
                }),
            );
            #[allow(clippy::redundant_closure_call)]
            let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                Result<Answer, ModelError>,
            >(
                (|| -> Result<Answer, ModelError> {
                    #[allow(unused_variables)]
                    let attempt = &retry_history;
                    { ask(text, attempt.last_error()) }
                })(),
            );
            match retry_outcome {
                ::core::result::Result::Ok(retry_value) => {
                    let retry_checked = {
                        #[allow(unused_variables)]
                        let attempt = &retry_history;
                        #[allow(clippy::let_and_return)]
                        let retry_checked = ::retry_runtime::macro_support::check::<
                            _,
                            <Result<
                                Answer,
                                ModelError,
                            > as ::retry_runtime::macro_support::Outcome>::Error,
                        >(&retry_value, check);
                        retry_checked
                    };
                    match retry_checked {
                        ::core::result::Result::Ok(()) => {
                            retry_outcome = ::core::result::Result::Ok(retry_value);
                            ::retry_runtime::macro_support::TrackedCall::healed(
                                retry_call,
                                ::retry_runtime::macro_support::DEFAULT_MAX,
                                ::core::concat!(::core::module_path!(), "::extract"),
                            );
                        }
                        ::core::result::Result::Err(retry_error) => {
                            match {
                                let mut retry_next = retry_call;
                                let retry_decision = ::retry_runtime::macro_support::cold(||
                                {
                                    #[allow(clippy::let_and_return)]
                                    let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                        &mut retry_next,
                                        ::retry_runtime::macro_support::Failure::new(
                                                const {
                                                    &::retry_runtime::macro_support::Site::new(
                                                        const { &::retry_runtime::Policy::new() },
                                                        ::core::concat!(::core::module_path!(), "::extract"),
                                                    )
                                                },
                                                ::retry_runtime::Verdict::INVALID,
                                                ::retry_runtime::macro_support::show(&retry_error)
                                                    .__retry_show(),
                                            )
                                            .validates(),
                                    );
                                    retry_decision
                                });
                                retry_call = retry_next;
                                retry_decision
                            } {
                                ::core::result::Result::Ok(retry_pause) => {
                                    ::retry_runtime::macro_support::failed(
                                        &mut retry_history,
                                        retry_error,
                                    );
                                    ::retry_runtime::macro_support::invalid(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    break 'retry_pause retry_pause;
                                }
                                ::core::result::Result::Err(retry_reason) => {
                                    ::retry_runtime::macro_support::invalid(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    retry_outcome = ::core::result::Result::Err(
                                        ::retry_runtime::macro_support::shape(
                                            ::retry_runtime::macro_support::gave_up(
                                                retry_history,
                                                retry_error,
                                                retry_reason,
                                            ),
                                            explain,
                                        ),
                                    );
                                }
                            }
                        }
                    }
                }
                ::core::result::Result::Err(retry_error) => {
                    match {
                        let mut retry_next = retry_call;
                        let retry_decision = ::retry_runtime::macro_support::cold(|| {
                            #[allow(clippy::let_and_return)]
                            let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                &mut retry_next,
                                ::retry_runtime::macro_support::Failure::new(
                                        const {
                                            &::retry_runtime::macro_support::Site::new(
                                                const { &::retry_runtime::Policy::new() },
                                                ::core::concat!(::core::module_path!(), "::extract"),
                                            )
                                        },
                                        ::retry_runtime::macro_support::classify(&retry_error),
                                        ::retry_runtime::macro_support::show(&retry_error)
                                            .__retry_show(),
                                    )
                                    .validates(),
                            );
                            retry_decision
                        });
                        retry_call = retry_next;
                        retry_decision
                    } {
                        ::core::result::Result::Ok(retry_pause) => {
                            ::retry_runtime::macro_support::failed(
                                &mut retry_history,
                                retry_error,
                            );
                            break 'retry_pause retry_pause;
                        }
                        ::core::result::Result::Err(retry_reason) => {
                            retry_outcome = ::core::result::Result::Err(
                                ::retry_runtime::macro_support::shape(
                                    ::retry_runtime::macro_support::gave_up(
                                        retry_history,
                                        retry_error,
                                        retry_reason,
                                    ),
                                    explain,
                                ),
                            );
                        }
                    }
                }
            }
            break 'retry_call retry_outcome;
        };
        ::retry_runtime::macro_support::sleep_blocking(retry_pause);
    }
}
