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
        loop {
            let retry_pause = {
                #[allow(clippy::redundant_closure_call)]
                let retry_outcome = ::retry_runtime::macro_support::into_result::<
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
                let retry_retried = ::retry_runtime::macro_support::TrackedCall::is_retried(
                    &retry_call,
                );
                match retry_outcome {
                    ::core::result::Result::Ok(retry_value) => {
                        if retry_retried {
                            ::retry_runtime::macro_support::TrackedCall::succeeded(
                                retry_call,
                                &::retry_runtime::macro_support::policy(self.policy),
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
                            let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                &mut retry_next,
                                ::retry_runtime::macro_support::Failure::new(
                                        &::retry_runtime::macro_support::policy(self.policy),
                                        ::retry_runtime::macro_support::classify(&retry_error),
                                        ::core::concat!(::core::module_path!(), "::complete"),
                                        &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                            .__retry_show(),
                                    )
                                    .deadline(retry_deadline),
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
    })
}
