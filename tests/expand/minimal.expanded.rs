//! The common case: a method of a client, all numbers literal.
impl Client {
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        let mut retry_call = ::retry_runtime::macro_support::Call::new();
        loop {
            let retry_pause = {
                #[allow(clippy::redundant_closure_call)]
                let retry_outcome = ::retry_runtime::macro_support::into_result::<
                    Result<Completion, ModelError>,
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
                            let retry_outcome: Result<Completion, ModelError> = loop {};
                            return retry_outcome;
                        }
                        {
                            let response = self.http.post(prompt).await?;
                            response.json().await
                        }
                    }
                        .await,
                );
                let retry_retried = ::retry_runtime::macro_support::Call::is_retried(
                    &retry_call,
                );
                match retry_outcome {
                    ::core::result::Result::Ok(retry_value) => {
                        if retry_retried {
                            ::retry_runtime::macro_support::Call::succeeded(
                                retry_call,
                                &const {
                                    ::retry_runtime::Policy::new()
                                        .max(5u32)
                                        .backoff(::retry_runtime::Backoff::Exponential)
                                },
                                ::core::concat!(::core::module_path!(), "::complete"),
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
                            let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                                &mut retry_next,
                                &const {
                                    ::retry_runtime::Policy::new()
                                        .max(5u32)
                                        .backoff(::retry_runtime::Backoff::Exponential)
                                },
                                ::retry_runtime::macro_support::verdict(
                                    &retry_error,
                                    is_retryable,
                                ),
                                ::core::concat!(::core::module_path!(), "::complete"),
                                &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                    .__retry_show(),
                            );
                            retry_decision
                        });
                        match retry_decision {
                            ::core::result::Result::Ok(retry_pause) => {
                                retry_call = retry_next;
                                retry_pause
                            }
                            ::core::result::Result::Err(_) => {
                                break ::core::result::Result::Err(retry_error);
                            }
                        }
                    }
                }
            };
            ::retry_runtime::Timer::sleep(
                    &::retry_runtime::macro_support::default_timer::<
                        ::retry_runtime::macro_support::Features,
                    >(),
                    retry_pause,
                )
                .await;
        }
    }
}
