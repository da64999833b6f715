//! A function that returns a future: the whole body is one attempt.
fn complete<'a>(
    &'a self,
    prompt: &'a str,
) -> impl Future<Output = Result<impl Answer, ModelError>> + Send + 'a {
    ::retry_runtime::macro_support::lazy(async move {
        let mut call = ::retry_runtime::macro_support::TrackedCall::new();
        let deadline = ::retry_runtime::macro_support::policy_deadline(
            &::retry_runtime::macro_support::policy(self.policy),
        );
        loop {
            let pause = {
                #[allow(clippy::redundant_closure_call)]
                let outcome = ::retry_runtime::macro_support::into_result::<
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
                let retried = call.is_retried();
                match outcome {
                    ::core::result::Result::Ok(value) => {
                        if retried {
                            ::retry_runtime::macro_support::succeeded(
                                &::retry_runtime::macro_support::policy(self.policy),
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
                                            &::retry_runtime::macro_support::policy(self.policy),
                                            ::retry_runtime::macro_support::classify(&error),
                                            ::core::concat!(::core::module_path!(), "::complete"),
                                            &(&&&::retry_runtime::macro_support::Show(&error))
                                                .__retry_show(),
                                        )
                                        .deadline(deadline),
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
    })
}
