//! A value that is validated and corrected, paid for from a budget.
impl Extractor {
    async fn extract(&self, text: &str) -> Result<Answer, ModelError> {
        let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
        'retry_call: loop {
            let retry_pause = {
                #[allow(clippy::redundant_closure_call)]
                let retry_outcome = ::retry_runtime::macro_support::into_result::<
                    Result<Answer, ModelError>,
                >(
                    async {
                        #[allow(
                            unknown_lints,
                            unreachable_code,
                            clippy::diverging_sub_expression,
                            clippy::empty_loop,
                            clippy::let_unit_value,
                            clippy::let_with_type_underscore,
                            clippy::needless_return,
                            clippy::unreachable
                        )]
                        if false {
                            let retry_outcome: Result<Answer, ModelError> = loop {};
                            return retry_outcome;
                        }
                        { self.ask(text).await }
                    }
                        .await,
                );
                match retry_outcome {
                    ::core::result::Result::Ok(retry_value) => {
                        let mut retry_value = retry_value;
                        loop {
                            let retry_checked = {
                                #[allow(clippy::let_and_return)]
                                let retry_checked = ::retry_runtime::macro_support::check::<
                                    _,
                                    <Result<
                                        Answer,
                                        ModelError,
                                    > as ::retry_runtime::macro_support::Outcome>::Error,
                                >(&retry_value, |answer| self.schema.check(answer));
                                retry_checked
                            };
                            let ::core::result::Result::Err(retry_error) = retry_checked
                            else {
                                if ::retry_runtime::macro_support::TrackedCall::is_retried(
                                    &retry_call,
                                ) {
                                    ::retry_runtime::macro_support::TrackedCall::succeeded(
                                        retry_call,
                                        &const {
                                            ::retry_runtime::Policy::new()
                                                .max(3u32)
                                                .invalid(::retry_runtime::Section::new().max(2u32))
                                        },
                                        ::core::concat!(::core::module_path!(), "::extract"),
                                        ::core::option::Option::None,
                                    );
                                }
                                break 'retry_call ::core::result::Result::Ok(retry_value);
                            };
                            let mut retry_next = retry_call;
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                #[allow(unused_imports)]
                                use ::retry_runtime::macro_support::{
                                    ShowDebug as _, ShowDisplay as _, ShowName as _,
                                };
                                let mut retry_paid = ::retry_runtime::macro_support::budget(
                                    &self.turns,
                                );
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                    &mut retry_next,
                                    ::retry_runtime::macro_support::Failure::new(
                                            &const {
                                                ::retry_runtime::Policy::new()
                                                    .max(3u32)
                                                    .invalid(::retry_runtime::Section::new().max(2u32))
                                            },
                                            ::retry_runtime::Verdict::INVALID,
                                            ::core::concat!(::core::module_path!(), "::extract"),
                                            &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                                .__retry_show(),
                                        )
                                        .budget(
                                            &mut |retry_kind| ::retry_runtime::macro_support::Paid::withdraw(
                                                &mut retry_paid,
                                                retry_kind,
                                            ),
                                        )
                                        .correctable(),
                                );
                                let retry_decision = ::core::result::Result::map(
                                    retry_decision,
                                    |retry_pause| (retry_pause, retry_paid),
                                );
                                retry_decision
                            });
                            let retry_pause = match retry_decision {
                                ::core::result::Result::Ok(retry_pause) => retry_pause,
                                ::core::result::Result::Err(_) => {
                                    break 'retry_call ::core::result::Result::Err(retry_error);
                                }
                            };
                            retry_call = retry_next;
                            let (retry_pause, retry_paid) = retry_pause;
                            ::retry_runtime::Timer::sleep(
                                    &::retry_runtime::macro_support::default_timer::<
                                        ::retry_runtime::macro_support::Features,
                                    >(),
                                    retry_pause,
                                )
                                .await;
                            ::retry_runtime::macro_support::Paid::spend(retry_paid);
                            let retry_corrected = {
                                #[allow(clippy::let_and_return)]
                                let retry_corrected = ::retry_runtime::macro_support::correct_async::<
                                    _,
                                    <Result<
                                        Answer,
                                        ModelError,
                                    > as ::retry_runtime::macro_support::Outcome>::Error,
                                    _,
                                >(
                                        retry_value,
                                        &retry_error,
                                        async |draft, error| self.correct(draft, error).await,
                                    )
                                    .await;
                                retry_corrected
                            };
                            retry_value = match retry_corrected {
                                ::core::result::Result::Ok(retry_value) => retry_value,
                                ::core::result::Result::Err(retry_error) => {
                                    {
                                        #[allow(unused_imports)]
                                        use ::retry_runtime::macro_support::{
                                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                                        };
                                        ::retry_runtime::macro_support::correction_failed(
                                            &const {
                                                ::retry_runtime::Policy::new()
                                                    .max(3u32)
                                                    .invalid(::retry_runtime::Section::new().max(2u32))
                                            },
                                            ::core::concat!(::core::module_path!(), "::extract"),
                                            ::retry_runtime::macro_support::TrackedCall::attempt(
                                                &retry_call,
                                            ),
                                            &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                                .__retry_show(),
                                            ::core::option::Option::None,
                                        );
                                    }
                                    let _ = ::retry_runtime::Reason::CorrectionFailed;
                                    break 'retry_call ::core::result::Result::Err(retry_error);
                                }
                            };
                        }
                    }
                    ::core::result::Result::Err(retry_error) => {
                        let mut retry_next = retry_call;
                        let retry_decision = ::retry_runtime::macro_support::cold(|| {
                            #[allow(unused_imports)]
                            use ::retry_runtime::macro_support::{
                                ShowDebug as _, ShowDisplay as _, ShowName as _,
                            };
                            let mut retry_paid = ::retry_runtime::macro_support::budget(
                                &self.turns,
                            );
                            #[allow(clippy::let_and_return)]
                            let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                &mut retry_next,
                                ::retry_runtime::macro_support::Failure::new(
                                        &const {
                                            ::retry_runtime::Policy::new()
                                                .max(3u32)
                                                .invalid(::retry_runtime::Section::new().max(2u32))
                                        },
                                        ::retry_runtime::macro_support::classify(&retry_error),
                                        ::core::concat!(::core::module_path!(), "::extract"),
                                        &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                            .__retry_show(),
                                    )
                                    .budget(
                                        &mut |retry_kind| ::retry_runtime::macro_support::Paid::withdraw(
                                            &mut retry_paid,
                                            retry_kind,
                                        ),
                                    )
                                    .validates(),
                            );
                            let retry_decision = ::core::result::Result::map(
                                retry_decision,
                                |retry_pause| (retry_pause, retry_paid),
                            );
                            retry_decision
                        });
                        match retry_decision {
                            ::core::result::Result::Ok(retry_pause) => {
                                retry_call = retry_next;
                                retry_pause
                            }
                            ::core::result::Result::Err(_) => {
                                break 'retry_call ::core::result::Result::Err(retry_error);
                            }
                        }
                    }
                }
            };
            let (retry_pause, retry_paid) = retry_pause;
            ::retry_runtime::Timer::sleep(
                    &::retry_runtime::macro_support::default_timer::<
                        ::retry_runtime::macro_support::Features,
                    >(),
                    retry_pause,
                )
                .await;
            ::retry_runtime::macro_support::Paid::spend(retry_paid);
        }
    }
}
