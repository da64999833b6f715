//! A function that returns a future: the whole body is one attempt.
fn complete<'a>(
    &'a self,
    prompt: &'a str,
) -> impl Future<Output = Result<impl Answer, ModelError>> + Send + 'a {
    ::retry_runtime::macro_support::lazy(async move {
        let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
        let retry_deadline = ::retry_runtime::macro_support::policy_deadline(
            &::retry_runtime::macro_support::policy(self.policy),
        );
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                    Result<_, ModelError>,
                >(
                    (|| {
                        {
                            let request = self.request(prompt);
                            self.send(request)
                        }
                    })()
                        .await,
                );
                match retry_outcome {
                    ::core::result::Result::Ok(_) => {
                        if ::retry_runtime::macro_support::TrackedCall::is_retried(
                            &retry_call,
                        ) {
                            ::retry_runtime::macro_support::TrackedCall::healed(
                                retry_call,
                                ::retry_runtime::macro_support::max(
                                    &::retry_runtime::macro_support::policy(self.policy),
                                ),
                                ::core::concat!(::core::module_path!(), "::complete"),
                            );
                        }
                    }
                    ::core::result::Result::Err(retry_error) => {
                        match {
                            let mut retry_next = retry_call;
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                    &mut retry_next,
                                    ::retry_runtime::macro_support::Failure::new(
                                            &::retry_runtime::macro_support::Site::new(
                                                &::retry_runtime::macro_support::policy(self.policy),
                                                ::core::concat!(::core::module_path!(), "::complete"),
                                            ),
                                            ::retry_runtime::macro_support::classify(&retry_error),
                                            ::retry_runtime::macro_support::show(&retry_error)
                                                .__retry_show(),
                                        )
                                        .deadline(retry_deadline),
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
            ::retry_runtime::macro_support::sleep(
                    retry_pause,
                    ::retry_runtime::macro_support::Features,
                )
                .await;
        }
    })
}
