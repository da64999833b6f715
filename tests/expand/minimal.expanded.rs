//! The common case: a method of a client, all numbers literal.
impl Client {
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        let mut retry_call = ::retry_runtime::macro_support::Call::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
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
                            5u32,
                            ::core::concat!(::core::module_path!(), "::complete"),
                        );
                    }
                    ::core::result::Result::Err(retry_error) => {
                        match ::retry_runtime::macro_support::cold(|| ::retry_runtime::macro_support::Call::failed_plainly(
                            retry_call,
                            const {
                                &::retry_runtime::macro_support::Site::new(
                                    const {
                                        &::retry_runtime::Policy::new()
                                            .max(5u32)
                                            .backoff(::retry_runtime::Backoff::Exponential)
                                    },
                                    ::core::concat!(::core::module_path!(), "::complete"),
                                )
                            },
                            ::retry_runtime::macro_support::verdict(
                                &retry_error,
                                is_retryable,
                            ),
                            ::retry_runtime::macro_support::show(&retry_error)
                                .__retry_show(),
                        )) {
                            ::core::option::Option::Some(retry_pause) => {
                                retry_call = ::retry_runtime::macro_support::Call::next(
                                    retry_call,
                                );
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
