//! A value that is validated and corrected, paid for from a budget.
impl Extractor {
    async fn extract(&self, text: &str) -> Result<Answer, ModelError> {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{
            max as _, invalid as _, max as _, budget as _, validate as _, correct as _,
        };
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
            &__retry::policy_of(__retry::Section::new().max(3u32))
                .invalid(__retry::Section::new().max(2u32)),
            ::core::concat!(::core::module_path!(), "::extract"),
        );
        let (retry_values, retry_kinds) = __retry::given((&self.turns,));
        let retry_call = &mut __retry::Driver::new(
            __retry::Protections::new()
                .budget(retry_kinds.0.__retry_shared(retry_values.0)),
            __retry::expected_timer::<__retry::Features>(),
        );
        'retry_call: {
            'retry_attempts: loop {
                while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                    let () = retry_call.wait(__retry::uncancelled()).await;
                }
                let mut retry_outcome: Result<Answer, ModelError> = async {
                    if false {
                        return __retry::never::<Result<Answer, ModelError>>();
                    }
                    { self.ask(text).await }
                }
                    .await;
                match retry_outcome {
                    __retry::Ok(retry_value) => {
                        retry_call.answered(__retry::Reporter::at(__RETRY_SITE));
                        let mut retry_value = retry_value;
                        loop {
                            let retry_checked = {
                                #[allow(clippy::let_and_return)]
                                let retry_checked = __retry::check::<
                                    _,
                                    <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                >(&retry_value, |answer| self.schema.check(answer));
                                retry_checked
                            };
                            let __retry::Err(retry_error) = retry_checked else {
                                retry_outcome = __retry::Ok(retry_value);
                                retry_call.succeeded(__retry::Reporter::at(__RETRY_SITE));
                                break;
                            };
                            let retry_decision = __retry::cold(|| {
                                retry_call
                                    .failed(
                                        __retry::Failure::new(
                                                __RETRY_SITE,
                                                __retry::complaint::<
                                                    <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                                >(&retry_error)
                                                    .__retry_verdict(),
                                                __retry::show::<
                                                    <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                                >(&retry_error)
                                                    .__retry_show(),
                                            )
                                            .correctable(),
                                        __retry::Reporter::at(__RETRY_SITE),
                                    )
                            });
                            if let __retry::Err(_) = retry_decision {
                                break 'retry_call __retry::Err(retry_error);
                            }
                            while retry_call.pauses() {
                                let () = retry_call.wait(__retry::uncancelled()).await;
                            }
                            if let __retry::Some(retry_reason) = retry_call
                                .begin_correction()
                            {
                                retry_call
                                    .stopped(
                                        &__retry::Stop::of_correction(retry_reason),
                                        __retry::show::<
                                            <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                        >(&retry_error)
                                            .__retry_show(),
                                        __retry::Ending::Error,
                                        __retry::Reporter::at(__RETRY_SITE),
                                    );
                                break 'retry_call __retry::Err(retry_error);
                            }
                            let retry_corrected = {
                                #[allow(clippy::let_and_return)]
                                let retry_corrected = __retry::correct_async::<
                                    _,
                                    <Result<
                                        Answer,
                                        ModelError,
                                    > as __retry::OutcomeTypes>::Error,
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
                                __retry::Ok(retry_value) => retry_value,
                                __retry::Err(retry_error) => {
                                    retry_call
                                        .stopped(
                                            &__retry::Stop::of_correction(
                                                __retry::Reason::CorrectionFailed,
                                            ),
                                            __retry::show::<
                                                <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                            >(&retry_error)
                                                .__retry_show(),
                                            __retry::Ending::Error,
                                            __retry::Reporter::at(__RETRY_SITE),
                                        );
                                    break 'retry_call __retry::Err(retry_error);
                                }
                            };
                        }
                    }
                    __retry::Err(retry_error) => {
                        let retry_decision = __retry::cold(|| {
                            retry_call
                                .failed(
                                    __retry::Failure::new(
                                            __RETRY_SITE,
                                            __retry::classify(&retry_error),
                                            __retry::show::<
                                                <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                            >(&retry_error)
                                                .__retry_show(),
                                        )
                                        .validates()
                                        .forgotten(),
                                    __retry::Reporter::at(__RETRY_SITE),
                                )
                        });
                        if __retry::Result::is_ok(&retry_decision) {
                            continue 'retry_attempts;
                        }
                        break 'retry_call __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            }
        }
    }
}
