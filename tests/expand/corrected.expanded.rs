//! A value that is validated and corrected, paid for from a budget.
impl Extractor {
    async fn extract(&self, text: &str) -> Result<Answer, ModelError> {
        let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                    Result<Answer, ModelError>,
                >(
                    async {
                        if false {
                            return ::retry_runtime::macro_support::never::<
                                Result<Answer, ModelError>,
                            >();
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
                                retry_outcome = ::core::result::Result::Ok(retry_value);
                                ::retry_runtime::macro_support::TrackedCall::healed(
                                    retry_call,
                                    3u32,
                                    ::core::concat!(::core::module_path!(), "::extract"),
                                );
                                break;
                            };
                            let retry_pause = match {
                                let mut retry_next = retry_call;
                                let retry_decision = ::retry_runtime::macro_support::cold(||
                                {
                                    let mut retry_paid = ::retry_runtime::macro_support::budget(
                                        &self.turns,
                                    );
                                    #[allow(clippy::let_and_return)]
                                    let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                        &mut retry_next,
                                        ::retry_runtime::macro_support::Failure::new(
                                                const {
                                                    &::retry_runtime::macro_support::Site::new(
                                                        const {
                                                            &::retry_runtime::Policy::new()
                                                                .max(3u32)
                                                                .invalid(::retry_runtime::Section::new().max(2u32))
                                                        },
                                                        ::core::concat!(::core::module_path!(), "::extract"),
                                                    )
                                                },
                                                ::retry_runtime::Verdict::INVALID,
                                                ::retry_runtime::macro_support::show(&retry_error)
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
                                retry_call = retry_next;
                                retry_decision
                            } {
                                ::core::result::Result::Ok(retry_pause) => retry_pause,
                                ::core::result::Result::Err(_) => {
                                    retry_outcome = ::core::result::Result::Err(retry_error);
                                    break;
                                }
                            };
                            let (retry_pause, retry_paid) = retry_pause;
                            ::retry_runtime::macro_support::sleep(
                                    retry_pause,
                                    ::retry_runtime::macro_support::Features,
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
                                        ::retry_runtime::macro_support::correction_failed(
                                            const {
                                                &::retry_runtime::macro_support::Site::new(
                                                    const {
                                                        &::retry_runtime::Policy::new()
                                                            .max(3u32)
                                                            .invalid(::retry_runtime::Section::new().max(2u32))
                                                    },
                                                    ::core::concat!(::core::module_path!(), "::extract"),
                                                )
                                            },
                                            ::retry_runtime::macro_support::TrackedCall::attempt(
                                                &retry_call,
                                            ),
                                            ::retry_runtime::macro_support::show(&retry_error)
                                                .__retry_show(),
                                            ::core::option::Option::None,
                                        );
                                    }
                                    let _ = ::retry_runtime::Reason::CorrectionFailed;
                                    retry_outcome = ::core::result::Result::Err(retry_error);
                                    break;
                                }
                            };
                        }
                    }
                    ::core::result::Result::Err(retry_error) => {
                        match {
                            let mut retry_next = retry_call;
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                let mut retry_paid = ::retry_runtime::macro_support::budget(
                                    &self.turns,
                                );
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                    &mut retry_next,
                                    ::retry_runtime::macro_support::Failure::new(
                                            const {
                                                &::retry_runtime::macro_support::Site::new(
                                                    const {
                                                        &::retry_runtime::Policy::new()
                                                            .max(3u32)
                                                            .invalid(::retry_runtime::Section::new().max(2u32))
                                                    },
                                                    ::core::concat!(::core::module_path!(), "::extract"),
                                                )
                                            },
                                            ::retry_runtime::macro_support::classify(&retry_error),
                                            ::retry_runtime::macro_support::show(&retry_error)
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
                            retry_call = retry_next;
                            retry_decision
                        } {
                            ::core::result::Result::Ok(retry_pause) => {
                                break 'retry_pause retry_pause;
                            }
                            ::core::result::Result::Err(_) => {
                                retry_outcome = ::core::result::Result::Err(retry_error);
                            }
                        }
                    }
                }
                break 'retry_call retry_outcome;
            };
            let (retry_pause, retry_paid) = retry_pause;
            ::retry_runtime::macro_support::sleep(
                    retry_pause,
                    ::retry_runtime::macro_support::Features,
                )
                .await;
            ::retry_runtime::macro_support::Paid::spend(retry_paid);
        }
    }
}
