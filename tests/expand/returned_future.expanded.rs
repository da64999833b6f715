//! A function that returns a future: the whole body is one attempt.
fn complete<'a>(
    &'a self,
    prompt: &'a str,
) -> impl Future<Output = Result<impl Answer, ModelError>> + Send + 'a {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::policy as _;
    __retry::lazy(async move {
        __retry::expect_timer();
        let mut retry_call;
        let retry_deadline;
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
                retry_call = __retry::Call::new();
                retry_deadline = __retry::policy_deadline(retry_numbers, __retry::now);
            }
        }
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_outcome: Result<_, ModelError> = __retry::once(|| {
                        {
                            let request = self.request(prompt);
                            self.send(request)
                        }
                    })
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
    })
}
