async fn complete(&self, prompt: &str) -> Result<Answer, ModelError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{hedge as _, budget as _};
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::Policy::new(),
        ::core::concat!(::core::module_path!(), "::complete"),
    );
    static __RETRY_BUDGET: __retry::Budget = __retry::Budget::standard();
    let (retry_values, retry_kinds) = __retry::given((
        __retry::own_budget(&__RETRY_BUDGET),
    ));
    let retry_call = &mut __retry::Driver::new(
        __retry::Protections::new().budget(retry_kinds.0.__retry_shared(retry_values.0)),
        __retry::expected_timer::<__retry::Features>(),
    );
    let mut retry_pushback = __retry::Pushback::new();
    'retry_call: {
        'retry_attempts: loop {
            while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                let () = retry_call.wait(__retry::uncancelled()).await;
            }
            let (retry_after, retry_measured) = __retry::hedge(
                ::core::time::Duration::new(0u64, 200000000u32),
                __retry::now,
            );
            let retry_attempt = __retry::runs_at_once(|| async {
                let mut retry_outcome: Result<Answer, ModelError> = async {
                    if false {
                        return __retry::never::<Result<Answer, ModelError>>();
                    }
                    { self.send(prompt).await }
                }
                    .await;
                (retry_outcome, false)
            });
            let retry_sleep = |retry_after| __retry::sleep_out(
                __retry::default_timer::<__retry::Features>(),
                retry_after,
            );
            let mut retry_verdict = __retry::None;
            let retry_ended = {
                let retry_first = ::core::pin::pin!(__retry::Some(retry_attempt()));
                let retry_slept = ::core::pin::pin!(retry_sleep(retry_after));
                let mut retry_running = __retry::Running::new(
                    retry_first,
                    __retry::Call::attempt(&retry_call.call()),
                    retry_slept,
                    retry_measured,
                );
                loop {
                    match retry_running.wait().await {
                        __retry::Next::Due(retry_delay) => {
                            let retry_begins = __retry::cold(|| {
                                retry_call
                                    .hedge(
                                        __retry::Failure::new(
                                            __RETRY_SITE,
                                            __retry::Verdict::TRANSIENT,
                                            &"",
                                        ),
                                        retry_delay,
                                        retry_pushback,
                                        __retry::Reporter::at(__RETRY_SITE),
                                    )
                            });
                            if let __retry::Some(retry_number) = retry_begins {
                                retry_running
                                    .begin(
                                        retry_attempt(),
                                        retry_number,
                                        retry_sleep(retry_after),
                                    );
                            }
                        }
                        __retry::Next::Ended(mut retry_ended) => {
                            retry_ended.outcome = match retry_ended.outcome {
                                __retry::Err(retry_error) if retry_running.goes_on() => {
                                    let (retry_goes_on, retry_judged) = __retry::cold(|| {
                                        let retry_asked = __retry::classify(&retry_error);
                                        let retry_goes_on = retry_call
                                            .hedge_failed(
                                                __retry::Failure::new(
                                                    __RETRY_SITE,
                                                    retry_asked,
                                                    __retry::show(&retry_error).__retry_show(),
                                                ),
                                                retry_ended.number,
                                                &mut retry_pushback,
                                                __retry::Reporter::at(__RETRY_SITE),
                                            );
                                        (retry_goes_on, retry_asked)
                                    });
                                    if retry_goes_on {
                                        continue;
                                    }
                                    retry_verdict = __retry::Some(retry_judged);
                                    __retry::Err(retry_error)
                                }
                                retry_outcome => retry_outcome,
                            };
                            break retry_ended;
                        }
                    }
                }
            };
            let retry_number = retry_ended.number;
            retry_call
                .hedges_ended(
                    retry_number,
                    __retry::Result::is_ok(&retry_ended.outcome),
                );
            let mut retry_outcome = retry_ended.outcome;
            match retry_outcome {
                __retry::Ok(_) => retry_call.ok(__retry::Reporter::at(__RETRY_SITE)),
                __retry::Err(retry_error) => {
                    let retry_decision = __retry::cold(|| {
                        retry_call
                            .failed(
                                __retry::Failure::new(
                                        __RETRY_SITE,
                                        match retry_verdict {
                                            __retry::Some(retry_verdict) => retry_verdict,
                                            __retry::None => __retry::classify(&retry_error),
                                        },
                                        __retry::show(&retry_error).__retry_show(),
                                    )
                                    .pushback(&mut retry_pushback)
                                    .forgotten(),
                                __retry::Reporter::at(__RETRY_SITE),
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
}
