//! A value that is validated: the body runs again with the complaint at hand.
fn extract(text: &str) -> Result<Answer, ModelError> {
    let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
    let mut retry_history = ::retry_runtime::macro_support::history_of::<
        <Result<Answer, ModelError> as ::retry_runtime::macro_support::Outcome>::Error,
        <Result<Answer, ModelError> as ::retry_runtime::macro_support::Outcome>::Value,
    >();
    loop {
        let retry_pause = {
            ::retry_runtime::macro_support::begin(
                &mut retry_history,
                ::retry_runtime::macro_support::limit(
                    &const { ::retry_runtime::Policy::new() },
                ),
            );
            #[allow(clippy::redundant_closure_call)]
            let retry_outcome = ::retry_runtime::macro_support::into_result::<
                Result<Answer, ModelError>,
            >(
                (|| -> Result<Answer, ModelError> {
                    #[allow(unused_variables)]
                    let attempt = &retry_history;
                    { ask(text, attempt.last_error()) }
                })(),
            );
            let retry_retried = ::retry_runtime::macro_support::TrackedCall::is_retried(
                &retry_call,
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
                            if retry_retried {
                                ::retry_runtime::macro_support::TrackedCall::succeeded(
                                    retry_call,
                                    &const { ::retry_runtime::Policy::new() },
                                    ::core::concat!(::core::module_path!(), "::extract"),
                                    ::core::option::Option::None,
                                );
                            }
                            break ::core::result::Result::Ok(retry_value);
                        }
                        ::core::result::Result::Err(retry_error) => {
                            let mut retry_next = retry_call;
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                #[allow(unused_imports)]
                                use ::retry_runtime::macro_support::{
                                    ShowDebug as _, ShowDisplay as _, ShowName as _,
                                };
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                    &mut retry_next,
                                    ::retry_runtime::macro_support::Failure::new(
                                            &const { ::retry_runtime::Policy::new() },
                                            ::retry_runtime::Verdict::INVALID,
                                            ::core::concat!(::core::module_path!(), "::extract"),
                                            &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                                .__retry_show(),
                                        )
                                        .validates(),
                                );
                                retry_decision
                            });
                            match retry_decision {
                                ::core::result::Result::Ok(retry_pause) => {
                                    retry_call = retry_next;
                                    ::retry_runtime::macro_support::failed(
                                        &mut retry_history,
                                        retry_error,
                                    );
                                    ::retry_runtime::macro_support::invalid(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    retry_pause
                                }
                                ::core::result::Result::Err(retry_reason) => {
                                    ::retry_runtime::macro_support::invalid(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    break ::core::result::Result::Err(
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
                    let mut retry_next = retry_call;
                    let retry_decision = ::retry_runtime::macro_support::cold(|| {
                        #[allow(unused_imports)]
                        use ::retry_runtime::macro_support::{
                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                        };
                        #[allow(clippy::let_and_return)]
                        let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                            &mut retry_next,
                            ::retry_runtime::macro_support::Failure::new(
                                    &const { ::retry_runtime::Policy::new() },
                                    ::retry_runtime::macro_support::classify(&retry_error),
                                    ::core::concat!(::core::module_path!(), "::extract"),
                                    &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                        .__retry_show(),
                                )
                                .validates(),
                        );
                        retry_decision
                    });
                    match retry_decision {
                        ::core::result::Result::Ok(retry_pause) => {
                            retry_call = retry_next;
                            ::retry_runtime::macro_support::failed(
                                &mut retry_history,
                                retry_error,
                            );
                            retry_pause
                        }
                        ::core::result::Result::Err(retry_reason) => {
                            break ::core::result::Result::Err(
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
        };
        ::retry_runtime::macro_support::sleep_blocking(retry_pause);
    }
}
