//! A call that ends at once while the server is down.
impl Client {
    async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{max as _, breaker as _};
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
            &__retry::policy_of(__retry::Section::new().max(5u32)),
            ::core::concat!(::core::module_path!(), "::complete"),
        );
        let (retry_values, retry_kinds) = __retry::given((&self.breaker,));
        let retry_call = &mut __retry::Driver::new(
            __retry::Protections::new()
                .breaker(retry_kinds.0.__retry_shared(retry_values.0)),
            __retry::expected_timer::<__retry::Features>(),
        );
        let mut retry_failed = __retry::None;
        'retry_call: {
            let retry_stop = 'retry_attempts: loop {
                while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                    let () = retry_call.wait(__retry::uncancelled()).await;
                }
                if let __retry::Some(retry_stop) = retry_call.stop() {
                    break 'retry_attempts retry_stop;
                }
                __retry::drop(retry_failed);
                let mut retry_outcome: Result<Completion, ModelError> = __retry::beside(
                        async {
                            if false {
                                return __retry::never::<Result<Completion, ModelError>>();
                            }
                            { self.post(prompt).await }
                        },
                        &retry_kinds,
                    )
                    .await;
                match retry_outcome {
                    __retry::Ok(_) => retry_call.ok(__retry::Reporter::at(__RETRY_SITE)),
                    __retry::Err(retry_error) => {
                        let retry_decision = __retry::cold(|| {
                            retry_call
                                .failed(
                                    __retry::Failure::new(
                                        __RETRY_SITE,
                                        __retry::classify(&retry_error),
                                        __retry::show(&retry_error).__retry_show(),
                                    ),
                                    __retry::Reporter::at(__RETRY_SITE),
                                )
                        });
                        if __retry::Result::is_ok(&retry_decision) {
                            retry_failed = __retry::Some(retry_error);
                            continue 'retry_attempts;
                        }
                        break 'retry_call __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            let retry_error = __retry::last_or_rejected(retry_failed, &retry_stop);
            retry_call
                .stopped(
                    &retry_stop,
                    __retry::show(&retry_error).__retry_show(),
                    __retry::Ending::Error,
                    __retry::Reporter::at(__RETRY_SITE),
                );
            break 'retry_call __retry::Err(retry_error);
        }
    }
}
