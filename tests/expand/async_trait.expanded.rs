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
            loop {
                let retry_pause = {
                    #[allow(clippy::redundant_closure_call)]
                    let retry_outcome = ::retry_runtime::macro_support::into_result::<
                        Result<Answer, ModelError>,
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
                                let retry_outcome: Result<Answer, ModelError> = loop {};
                                return retry_outcome;
                            }
                            { __self.ask(&prompt).await }
                        }
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
                                    &::retry_runtime::macro_support::policy(__self.policy),
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
                                            &::retry_runtime::macro_support::policy(__self.policy),
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
        };
        #[allow(unreachable_code)] __ret
    })
}
