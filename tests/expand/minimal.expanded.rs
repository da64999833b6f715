//! The common case: a method of a client, all numbers literal.
impl Client {
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{max as _, backoff as _, on as _};
        __retry::expect_timer();
        let mut retry_call = __retry::Retries::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_outcome: Result<Completion, ModelError> = async {
                    if false {
                        return __retry::never::<Result<Completion, ModelError>>();
                    }
                    {
                        let response = self.http.post(prompt).await?;
                        response.json().await
                    }
                }
                    .await;
                let retry_site = const {
                    &__retry::Site::new(
                        const {
                            &__retry::policy_of(
                                __retry::Section::new()
                                    .max(5u32)
                                    .backoff(__retry::Backoff::Exponential),
                            )
                        },
                        ::core::concat!(::core::module_path!(), "::complete"),
                    )
                };
                match retry_outcome {
                    __retry::Ok(_) => {
                        retry_call.healed(retry_site);
                    }
                    __retry::Err(retry_error) => {
                        if let __retry::Some(retry_pause) = __retry::cold_at(
                            retry_site,
                            |retry_site| {
                                retry_call
                                    .failed_plainly(
                                        retry_site,
                                        __retry::IntoVerdict::into_verdict(
                                            __retry::answer(&retry_error, is_retryable),
                                        ),
                                        __retry::show(&retry_error).__retry_show(),
                                    )
                            },
                        ) {
                            retry_call = retry_call.next();
                            break 'retry_pause retry_pause;
                        }
                        retry_outcome = __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            let () = __retry::Timer::sleep(
                    &__retry::default_timer::<__retry::Features>(),
                    retry_pause,
                )
                .await;
        }
    }
}
