//! Shared protections, a deadline and an observer.
async fn ask(prompt: u64) -> Result<u64, Busy> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{
        breaker as _, limiter as _, budget as _, deadline as _, observe as _,
    };
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::Policy::new(),
        ::core::concat!(::core::module_path!(), "::ask"),
    );
    let (retry_values, retry_kinds) = __retry::given((&BREAKER, &LIMITER, &BUDGET));
    let retry_call = &mut __retry::Driver::new(
        __retry::Protections::new()
            .breaker(retry_kinds.0.__retry_shared(retry_values.0))
            .limiter(retry_kinds.1.__retry_shared(retry_values.1))
            .budget(retry_kinds.2.__retry_shared(retry_values.2)),
        __retry::expected_timer::<__retry::Features>(),
    );
    retry_call.set_deadline(__retry::Some(::core::time::Duration::new(60u64, 0u32)));
    let mut retry_failed = __retry::None;
    'retry_call: {
        let retry_stop = 'retry_attempts: loop {
            while retry_call
                .waits(
                    __retry::Reporter::observe(
                        __retry::Reporter::at(__RETRY_SITE),
                        &mut |event| seen(event),
                    ),
                )
            {
                let () = retry_call.wait(__retry::uncancelled()).await;
            }
            if let __retry::Some(retry_stop) = retry_call.stop() {
                break 'retry_attempts retry_stop;
            }
            __retry::drop(retry_failed);
            let mut retry_outcome: Result<u64, Busy> = __retry::beside(
                    async {
                        if false {
                            return __retry::never::<Result<u64, Busy>>();
                        }
                        { send(prompt).await }
                    },
                    &retry_kinds,
                )
                .await;
            match retry_outcome {
                __retry::Ok(_) => {
                    retry_call
                        .ok(
                            __retry::Reporter::observe(
                                __retry::Reporter::at(__RETRY_SITE),
                                &mut |event| seen(event),
                            ),
                        )
                }
                __retry::Err(retry_error) => {
                    let retry_decision = __retry::cold(|| {
                        retry_call
                            .failed(
                                __retry::Failure::new(
                                    __RETRY_SITE,
                                    __retry::classify(&retry_error),
                                    __retry::show(&retry_error).__retry_show(),
                                ),
                                __retry::Reporter::observe(
                                    __retry::Reporter::at(__RETRY_SITE),
                                    &mut |event| seen(event),
                                ),
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
                __retry::Reporter::observe(
                    __retry::Reporter::at(__RETRY_SITE),
                    &mut |event| seen(event),
                ),
            );
        break 'retry_call __retry::Err(retry_error);
    }
}
