//! The common case: a method of a client, all numbers literal.
impl Client {
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        static __RETRY_SITE: ::retry_runtime::macro_support::Site<'static> = ::retry_runtime::macro_support::Site::new(
            &const {
                ::retry_runtime::Policy::new()
                    .max(5u32)
                    .backoff(::retry_runtime::Backoff::Exponential)
            },
            ::core::concat!(::core::module_path!(), "::complete"),
        );
        let mut retry_call = ::retry_runtime::macro_support::Call::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                #[allow(clippy::redundant_closure_call)]
                let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                    Result<Completion, ModelError>,
                >(
                    async {
                        if false {
                            return ::retry_runtime::macro_support::never::<
                                Result<Completion, ModelError>,
                            >();
                        }
                        {
                            let response = self.http.post(prompt).await?;
                            response.json().await
                        }
                    }
                        .await,
                );
                match retry_outcome {
                    ::core::result::Result::Ok(_) => {
                        ::retry_runtime::macro_support::Call::healed(
                            retry_call,
                            &__RETRY_SITE,
                        );
                    }
                    ::core::result::Result::Err(retry_error) => {
                        match {
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                #[allow(unused_imports)]
                                use ::retry_runtime::macro_support::{
                                    ShowDebug as _, ShowName as _,
                                };
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                                    retry_call,
                                    &__RETRY_SITE,
                                    ::retry_runtime::macro_support::verdict(
                                        &retry_error,
                                        is_retryable,
                                    ),
                                    &(&::retry_runtime::macro_support::Show(&retry_error))
                                        .__retry_show(),
                                );
                                retry_decision
                            });
                            retry_call = ::retry_runtime::macro_support::Call::next(
                                retry_call,
                            );
                            retry_decision
                        } {
                            ::core::option::Option::Some(retry_pause) => {
                                break 'retry_pause retry_pause;
                            }
                            ::core::option::Option::None => {
                                retry_outcome = ::core::result::Result::Err(retry_error);
                            }
                        }
                    }
                }
                break 'retry_call retry_outcome;
            };
            ::retry_runtime::macro_support::sleep(
                    retry_pause,
                    ::retry_runtime::macro_support::Features,
                )
                .await;
        }
    }
}
