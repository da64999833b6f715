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
            let mut call = ::retry_runtime::macro_support::TrackedCall::new();
            let deadline = ::retry_runtime::macro_support::policy_deadline(
                &::retry_runtime::macro_support::policy(__self.policy),
            );
            loop {
                let pause = {
                    #[allow(clippy::redundant_closure_call)]
                    let outcome = ::retry_runtime::macro_support::into_result::<
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
                                let outcome: Result<Answer, ModelError> = loop {};
                                return outcome;
                            }
                            { __self.ask(&prompt).await }
                        }
                            .await,
                    );
                    let retried = call.is_retried();
                    match outcome {
                        ::core::result::Result::Ok(value) => {
                            if retried {
                                ::retry_runtime::macro_support::succeeded(
                                    &::retry_runtime::macro_support::policy(__self.policy),
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
                                                &::retry_runtime::macro_support::policy(__self.policy),
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
        };
        #[allow(unreachable_code)] __ret
    })
}
