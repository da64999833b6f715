//! A function that returns a future: the whole body is one attempt.
fn complete<'a>(
    &'a self,
    prompt: &'a str,
) -> impl Future<Output = Result<impl Answer, ModelError>> + Send + 'a {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::policy as _;
    __retry::lazy(async move {
        let retry_call = &mut __retry::Driver::new(
            (),
            __retry::expected_timer::<__retry::Features>(),
        );
        #[allow(clippy::match_single_binding)]
        match __retry::policy(
            &__retry::PolicySource::find(
                &(self.policy),
                |retry_tell| retry_tell(
                    ::core::concat!(::core::module_path!(), "::complete"),
                ),
            ),
        ) {
            retry_numbers => {
                if __retry::Option::is_some(&__retry::policy_timeout(retry_numbers)) {
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
                let mut retry_outcome: Result<_, ModelError> = __retry::once(|| {
                        {
                            let request = self.request(prompt);
                            self.send(request)
                        }
                    })
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
                                                        &(self.policy),
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
    })
}
