//! The common case: a method of a client, all numbers literal.
impl Client {
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        let mut call = ::retry_runtime::macro_support::Call::new();
        loop {
            let pause = {
                #[allow(clippy::redundant_closure_call)]
                let outcome = ::retry_runtime::macro_support::into_result::<
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
                            let outcome: Result<Completion, ModelError> = loop {};
                            return outcome;
                        }
                        {
                            let response = self.http.post(prompt).await?;
                            response.json().await
                        }
                    }
                        .await,
                );
                let retried = call.is_retried();
                match outcome {
                    ::core::result::Result::Ok(value) => {
                        if retried {
                            ::retry_runtime::macro_support::succeeded(
                                &const {
                                    ::retry_runtime::Policy::new()
                                        .max(5u32)
                                        .backoff(::retry_runtime::Backoff::Exponential)
                                },
                                ::core::concat!(::core::module_path!(), "::complete"),
                                call.attempt(),
                                ::core::option::Option::None,
                            );
                        }
                        break ::core::result::Result::Ok(value);
                    }
                    ::core::result::Result::Err(error) => {
                        let mut next = call;
                        let decision = ::retry_runtime::macro_support::cold(|| {
                            #[allow(unused_imports)]
                            use ::retry_runtime::macro_support::{
                                ShowDebug as _, ShowDisplay as _, ShowName as _,
                            };
                            #[allow(clippy::let_and_return)]
                            let decision = next
                                .failed(
                                    ::retry_runtime::macro_support::Failure::new(
                                        &const {
                                            ::retry_runtime::Policy::new()
                                                .max(5u32)
                                                .backoff(::retry_runtime::Backoff::Exponential)
                                        },
                                        ::retry_runtime::macro_support::verdict(
                                            &error,
                                            is_retryable,
                                        ),
                                        ::core::concat!(::core::module_path!(), "::complete"),
                                        &(&&&::retry_runtime::macro_support::Show(&error))
                                            .__retry_show(),
                                    ),
                                );
                            decision
                        });
                        match decision {
                            ::core::result::Result::Ok(pause) => {
                                call = next;
                                pause
                            }
                            ::core::result::Result::Err(_) => {
                                break ::core::result::Result::Err(error);
                            }
                        }
                    }
                }
            };
            ::retry_runtime::Timer::sleep(
                    &::retry_runtime::macro_support::default_timer::<
                        ::retry_runtime::macro_support::Features,
                    >(),
                    pause,
                )
                .await;
        }
    }
}
