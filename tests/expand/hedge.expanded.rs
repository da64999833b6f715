async fn complete(&self, prompt: &str) -> Result<Answer, ModelError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{hedge as _, budget as _};
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::Policy::new(),
        ::core::concat!(::core::module_path!(), "::complete"),
    );
    static __RETRY_BUDGET: __retry::Budget = __retry::Budget::standard();
    __retry::expect_timer();
    let mut retry_call = __retry::Call::new();
    let mut retry_pushback = __retry::Pushback::new();
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
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
                    (__retry::Call::attempt(&retry_call), ((), ())),
                    retry_slept,
                    retry_measured,
                );
                loop {
                    match retry_running.wait().await {
                        __retry::Next::Due(retry_delay) => {
                            let mut retry_next = retry_call;
                            let retry_begins = __retry::cold(|| {
                                let retry_budget = __retry::own_budget(&__RETRY_BUDGET);
                                #[allow(clippy::match_single_binding)]
                                match __retry::Failure::new(
                                        __RETRY_SITE,
                                        __retry::Verdict::TRANSIENT,
                                        &"",
                                    )
                                    .budget(&retry_budget)
                                {
                                    retry_slow => {
                                        if !__retry::Call::may_hedge(
                                            &retry_next,
                                            &retry_slow,
                                            retry_pushback,
                                        ) {
                                            return __retry::None;
                                        }
                                        if !__retry::Call::hedges(
                                            &mut retry_next,
                                            retry_slow,
                                            retry_delay,
                                        ) {
                                            return __retry::None;
                                        }
                                        __retry::Some(((), ()))
                                    }
                                }
                            });
                            retry_call = retry_next;
                            if let __retry::Some(retry_guards) = retry_begins {
                                retry_running
                                    .begin(
                                        retry_attempt(),
                                        (__retry::Call::attempt(&retry_call), retry_guards),
                                        retry_sleep(retry_after),
                                    );
                            }
                        }
                        __retry::Next::Ended(mut retry_ended) => {
                            retry_ended.outcome = match retry_ended.outcome {
                                __retry::Err(retry_error) if retry_running.goes_on() => {
                                    let mut retry_next = retry_call;
                                    let (retry_goes_on, retry_judged) = __retry::cold(|| {
                                        let retry_budget = __retry::own_budget(&__RETRY_BUDGET);
                                        let retry_asked = __retry::classify(&retry_error);
                                        let retry_goes_on = __retry::Call::failed_beside(
                                            &mut retry_next,
                                            __retry::Failure::new(
                                                    __RETRY_SITE,
                                                    retry_asked,
                                                    __retry::show(&retry_error).__retry_show(),
                                                )
                                                .budget(&retry_budget),
                                            retry_ended.number,
                                            &mut retry_pushback,
                                        );
                                        (retry_goes_on, retry_asked)
                                    });
                                    retry_call = retry_next;
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
            let mut retry_outcome = retry_ended.outcome;
            match retry_outcome {
                __retry::Ok(_) => {
                    if __retry::Call::is_retried(
                        &__retry::Call::at(retry_call, retry_number),
                    ) {
                        __retry::Call::healed(
                            &__retry::Call::at(retry_call, retry_number),
                            ::core::concat!(::core::module_path!(), "::complete"),
                            __retry::None,
                        );
                    }
                    {
                        let retry_budget = __retry::own_budget(&__RETRY_BUDGET);
                        __retry::Call::credit(&retry_call, &retry_budget);
                    }
                }
                __retry::Err(retry_error) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        let retry_budget = __retry::own_budget(&__RETRY_BUDGET);
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
                            __retry::Failure::new(
                                    __RETRY_SITE,
                                    match retry_verdict {
                                        __retry::Some(retry_verdict) => retry_verdict,
                                        __retry::None => __retry::classify(&retry_error),
                                    },
                                    __retry::show(&retry_error).__retry_show(),
                                )
                                .budget(&retry_budget)
                                .pushback(&mut retry_pushback),
                        );
                        let retry_decision = __retry::Result::map(
                            retry_decision,
                            |retry_pause| (
                                retry_pause,
                                __retry::Paid::new(
                                    retry_budget,
                                    __retry::Call::followed(&retry_next),
                                ),
                            ),
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
        let (retry_pause, retry_paid) = retry_pause;
        let () = __retry::sleep(retry_pause, __retry::Features).await;
        __retry::Paid::spend(retry_paid);
    }
}
