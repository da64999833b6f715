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
        __retry::expect_timer();
        let mut retry_call = __retry::Call::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_outcome: Result<Answer, ModelError> = async {
                    if false {
                        return __retry::never::<Result<Answer, ModelError>>();
                    }
                    { self.ask(text).await }
                }
                    .await;
                match retry_outcome {
                    __retry::Ok(retry_value) => {
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
                                if __retry::Call::is_retried(&retry_call) {
                                    __retry::Call::healed(
                                        &retry_call,
                                        ::core::concat!(::core::module_path!(), "::extract"),
                                        __retry::None,
                                    );
                                }
                                {
                                    let retry_budget = __retry::budget(&self.turns);
                                    __retry::held(&retry_budget).__retry_is_shared();
                                    __retry::Call::credit(&retry_call, &retry_budget);
                                }
                                break;
                            };
                            let mut retry_next = retry_call;
                            let retry_decision = __retry::cold(|| {
                                let retry_budget = __retry::budget(&self.turns);
                                __retry::held(&retry_budget).__retry_is_shared();
                                #[allow(clippy::let_and_return)]
                                let retry_decision = __retry::Call::failed_with(
                                    &mut retry_next,
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
                                        .budget(&retry_budget)
                                        .correctable(),
                                );
                                let retry_decision = __retry::Result::map(
                                    retry_decision,
                                    |retry_pause| (
                                        retry_pause,
                                        __retry::Paid::new(
                                            retry_budget,
                                            __retry::Call::followed(&retry_next),
                                        ),
                                    ),
                                );
                                retry_decision
                            });
                            retry_call = retry_next;
                            let retry_pause = match retry_decision {
                                __retry::Ok(retry_pause) => retry_pause,
                                __retry::Err(_) => {
                                    retry_outcome = __retry::Err(retry_error);
                                    break;
                                }
                            };
                            let (retry_pause, retry_paid) = retry_pause;
                            let () = __retry::sleep(retry_pause, __retry::Features)
                                .await;
                            __retry::Paid::spend(retry_paid);
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
                                    {
                                        __retry::Call::ended_after_pause(
                                            &retry_call,
                                            ::core::concat!(::core::module_path!(), "::extract"),
                                            __retry::show::<
                                                <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                            >(&retry_error)
                                                .__retry_show(),
                                            __retry::Values::Corrected,
                                            __retry::Ending::Error,
                                            __retry::Reason::CorrectionFailed,
                                            __retry::None,
                                        );
                                    }
                                    retry_outcome = __retry::Err(retry_error);
                                    break;
                                }
                            };
                        }
                    }
                    __retry::Err(retry_error) => {
                        let mut retry_next = retry_call;
                        let retry_decision = __retry::cold(|| {
                            let retry_budget = __retry::budget(&self.turns);
                            __retry::held(&retry_budget).__retry_is_shared();
                            #[allow(clippy::let_and_return)]
                            let retry_decision = __retry::Call::failed_with(
                                &mut retry_next,
                                __retry::Failure::new(
                                        __RETRY_SITE,
                                        __retry::classify(&retry_error),
                                        __retry::show::<
                                            <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                        >(&retry_error)
                                            .__retry_show(),
                                    )
                                    .budget(&retry_budget)
                                    .validates(),
                            );
                            let retry_decision = __retry::Result::map(
                                retry_decision,
                                |retry_pause| (
                                    retry_pause,
                                    __retry::Paid::new(
                                        retry_budget,
                                        __retry::Call::followed(&retry_next),
                                    ),
                                ),
                            );
                            retry_decision
                        });
                        retry_call = retry_next;
                        if let __retry::Ok(retry_pause) = retry_decision {
                            break 'retry_pause retry_pause;
                        }
                        retry_outcome = __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            let (retry_pause, retry_paid) = retry_pause;
            let () = __retry::sleep(retry_pause, __retry::Features).await;
            __retry::Paid::spend(retry_paid);
        }
    }
}
