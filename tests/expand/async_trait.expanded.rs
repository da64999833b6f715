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
            let retry_call = &mut __retry::Driver::new(
                (),
                __retry::expected_timer::<__retry::Features>(),
            );
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
                    retry_call.set_deadline(__retry::policy_limit(retry_numbers));
                }
            }
            'retry_call: {
                'retry_attempts: loop {
                    while retry_call
                        .waits(
                            __retry::Reporter::named(
                                ::core::concat!(::core::module_path!(), "::complete"),
                            ),
                        )
                    {
                        let () = retry_call.wait(__retry::uncancelled()).await;
                    }
                    let mut retry_outcome: Result<Answer, ModelError> = async {
                        if false {
                            return __retry::never::<Result<Answer, ModelError>>();
                        }
                        { __self.ask(&prompt).await }
                    }
                        .await;
                    match retry_outcome {
                        __retry::Ok(_) => {
                            retry_call
                                .ok(
                                    __retry::Reporter::named(
                                        ::core::concat!(::core::module_path!(), "::complete"),
                                    ),
                                )
                        }
                        __retry::Err(retry_error) => {
                            let retry_decision = __retry::cold(|| {
                                let retry_asked = __retry::classify(&retry_error);
                                retry_call
                                    .failed(
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
                                            .forgotten(),
                                        __retry::Reporter::named(
                                            ::core::concat!(::core::module_path!(), "::complete"),
                                        ),
                                    )
                            });
                            if __retry::Result::is_ok(&retry_decision) {
                                continue 'retry_attempts;
                            }
                            break 'retry_call __retry::Err(retry_error);
                        }
                    }
                    break 'retry_call retry_outcome;
                }
            }
        };
        #[allow(unreachable_code)] __ret
    })
}
