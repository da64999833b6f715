//! A call that ends at once while the server is down.
impl Client {
    async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{max as _, breaker as _};
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
            &__retry::policy_of(__retry::Section::new().max(5u32)),
            ::core::concat!(::core::module_path!(), "::complete"),
        );
        __retry::expect_timer();
        let mut retry_call = __retry::Retries::new();
        let mut retry_failed = __retry::None;
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let retry_by = 'retry_gate: {
                    let mut retry_permit = __retry::Permit::unasked(&self.breaker);
                    __retry::held(&retry_permit).__retry_is_shared();
                    if !__retry::Permit::admit(&mut retry_permit) {
                        break 'retry_gate __retry::RejectedBy::Breaker;
                    }
                    if let __retry::Some(retry_turned) = __retry::Permit::transition(
                        &retry_permit,
                    ) {
                        __retry::Call::breaker_changed(
                            &retry_call.whole(__RETRY_SITE),
                            ::core::concat!(::core::module_path!(), "::complete"),
                            retry_turned,
                            __retry::None,
                            __retry::None,
                        );
                    }
                    __retry::drop(retry_failed);
                    let mut retry_outcome: Result<Completion, ModelError> = __retry::beside(
                            async {
                                if false {
                                    return __retry::never::<Result<Completion, ModelError>>();
                                }
                                { self.post(prompt).await }
                            },
                            &retry_permit,
                        )
                        .await;
                    match retry_outcome {
                        __retry::Ok(_) => {
                            if let __retry::Some(retry_turned) = __retry::Permit::succeeded(
                                &mut retry_permit,
                            ) {
                                __retry::Call::breaker_changed(
                                    &retry_call.whole(__RETRY_SITE),
                                    ::core::concat!(::core::module_path!(), "::complete"),
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
                                            __retry::classify(&retry_error),
                                            __retry::show(&retry_error).__retry_show(),
                                        )
                                        .permit(&mut retry_permit),
                                );
                                retry_decision
                            });
                            retry_call = retry_next;
                            if let __retry::Ok(retry_pause) = retry_decision {
                                retry_failed = __retry::Some(retry_error);
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
                let retry_error: <Result<
                    Completion,
                    ModelError,
                > as __retry::OutcomeTypes>::Error = match retry_failed {
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
                        ::core::concat!(::core::module_path!(), "::complete"),
                        __retry::show(&retry_error).__retry_show(),
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
    }
}
