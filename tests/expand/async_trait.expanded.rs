//! A method as `#[async_trait]` hands it over: only the user's own block is repeated, and `self` in a key
//! is what the block calls it.
fn complete<'life0, 'async_trait>(
    &'life0 mut self,
    prompt: String,
) -> ::core::pin::Pin<
    Box<
        dyn ::core::future::Future<
            Output = Result<Answer, ModelError>,
        > + ::core::marker::Send + 'async_trait,
    >,
>
where
    'life0: 'async_trait,
    Self: 'async_trait,
{
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
            Result<Answer, ModelError>,
        > {
            #[allow(unreachable_code)] return __ret;
        }
        let __self = self;
        let prompt = prompt;
        let __ret: Result<Answer, ModelError> = {
            let mut retry_call = ::retry_runtime::macro_support::TrackedCall::new();
            let retry_deadline = ::retry_runtime::macro_support::policy_deadline(
                &::retry_runtime::macro_support::policy(__self.policy),
            );
            'retry_call: loop {
                let retry_pause = 'retry_pause: {
                    let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                        Result<Answer, ModelError>,
                    >(
                        async {
                            if false {
                                return ::retry_runtime::macro_support::never::<
                                    Result<Answer, ModelError>,
                                >();
                            }
                            { __self.ask(&prompt).await }
                        }
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
                                        &::retry_runtime::macro_support::policy(__self.policy),
                                    ),
                                    ::core::concat!(::core::module_path!(), "::complete"),
                                );
                            }
                        }
                        ::core::result::Result::Err(retry_error) => {
                            match {
                                let mut retry_next = retry_call;
                                let retry_decision = ::retry_runtime::macro_support::cold(||
                                {
                                    #[allow(clippy::let_and_return)]
                                    let retry_decision = ::retry_runtime::macro_support::TrackedCall::failed(
                                        &mut retry_next,
                                        ::retry_runtime::macro_support::Failure::new(
                                                &::retry_runtime::macro_support::Site::new(
                                                    &::retry_runtime::macro_support::policy(__self.policy),
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
        };
        #[allow(unreachable_code)] __ret
    })
}
