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
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::policy as _;
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
            Result<Answer, ModelError>,
        > {
            #[allow(unreachable_code)] return __ret;
        }
        let __self = self;
        let prompt = prompt;
        let __ret: Result<Answer, ModelError> = {
            __retry::expect_timer();
            let mut retry_call;
            let retry_deadline;
            #[allow(clippy::match_single_binding)]
            match __retry::policy(
                &__retry::PolicySource::find(
                    &(__self.policy),
                    |retry_tell| retry_tell(
                        ::core::concat!(::core::module_path!(), "::complete"),
                    ),
                ),
            ) {
                retry_numbers => {
                    if __retry::Option::is_some(
                        &__retry::policy_timeout(retry_numbers),
                    ) {
                        __retry::ignores_timeout(
                            ::core::concat!(::core::module_path!(), "::complete"),
                        );
                    }
                    retry_call = __retry::Call::new();
                    retry_deadline = __retry::policy_deadline(
                        retry_numbers,
                        __retry::now,
                    );
                }
            }
            'retry_call: loop {
                let retry_pause = 'retry_pause: {
                    let mut retry_outcome: Result<Answer, ModelError> = async {
                        if false {
                            return __retry::never::<Result<Answer, ModelError>>();
                        }
                        { __self.ask(&prompt).await }
                    }
                        .await;
                    match retry_outcome {
                        __retry::Ok(_) => {
                            if __retry::Call::is_retried(&retry_call) {
                                __retry::Call::healed(
                                    &retry_call,
                                    ::core::concat!(::core::module_path!(), "::complete"),
                                    __retry::None,
                                );
                            }
                        }
                        __retry::Err(retry_error) => {
                            let mut retry_next = retry_call;
                            let retry_decision = __retry::cold(|| {
                                let retry_asked = __retry::classify(&retry_error);
                                #[allow(clippy::let_and_return)]
                                let retry_decision = __retry::Call::failed_with(
                                    &mut retry_next,
                                    __retry::Failure::new(
                                            &__retry::Site::new(
                                                __retry::policy(
                                                    &__retry::PolicySource::find(
                                                        &(__self.policy),
                                                        |retry_tell| retry_tell(
                                                            ::core::concat!(::core::module_path!(), "::complete"),
                                                        ),
                                                    ),
                                                ),
                                                ::core::concat!(::core::module_path!(), "::complete"),
                                            ),
                                            retry_asked,
                                            __retry::show(&retry_error).__retry_show(),
                                        )
                                        .deadline(retry_deadline, __retry::now),
                                );
                                retry_decision
                            });
                            retry_call = retry_next;
                            if let __retry::Ok(retry_pause) = retry_decision {
                                break 'retry_pause retry_pause;
                            }
                            retry_outcome = __retry::Err(retry_error);
                        }
                    }
                    break 'retry_call retry_outcome;
                };
                let () = __retry::sleep(retry_pause, __retry::Features).await;
            }
        };
        #[allow(unreachable_code)] __ret
    })
}
