//! A call that is tried again once the breaker is half open, and may be cancelled while it waits for that.
impl Client {
    async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        use ::retry_runtime::macro_support as __retry;
        use ::retry_runtime::macro_support::keys::{
            max as _, rejected as _, max as _, backoff as _, base as _, deadline as _,
            budget as _, breaker as _, cancel as _,
        };
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
            &__retry::policy_of(__retry::Section::new().max(5u32))
                .rejected(
                    __retry::Section::new()
                        .max(20u32)
                        .backoff(__retry::Backoff::Fixed)
                        .base(::core::time::Duration::new(0u64, 100000000u32)),
                ),
            ::core::concat!(::core::module_path!(), "::complete"),
        );
        __retry::expect_timer();
        let mut retry_call = __retry::Call::new();
        let retry_deadline = __retry::deadline(
            ::core::time::Duration::new(60u64, 0u32),
            __retry::now,
        );
        let mut retry_failed = __retry::None;
        let mut retry_unspent = __retry::None;
        let mut retry_rejections = __retry::Rejections::new();
        let retry_waker = __retry::OwnWaker.await;
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                'retry_again: loop {
                    let (retry_by, retry_half_open_in) = 'retry_gate: {
                        let mut retry_permit = __retry::Permit::unasked(&self.breaker);
                        __retry::held(&retry_permit).__retry_is_shared();
                        if !__retry::Permit::admit(&mut retry_permit) {
                            break 'retry_gate (
                                __retry::RejectedBy::Breaker,
                                __retry::Permit::half_open_in(&retry_permit),
                            );
                        }
                        if let __retry::Some(retry_turned) = __retry::Permit::transition(
                            &retry_permit,
                        ) {
                            __retry::Call::breaker_changed(
                                &retry_call,
                                ::core::concat!(::core::module_path!(), "::complete"),
                                retry_turned,
                                __retry::None,
                                __retry::None,
                            );
                        }
                        if let __retry::Some(retry_paid) = retry_unspent {
                            __retry::Paid::spend(retry_paid);
                        }
                        __retry::drop(retry_failed);
                        let mut retry_outcome: Result<Completion, ModelError> = __retry::beside(
                                async {
                                    if false {
                                        return __retry::never::<Result<Completion, ModelError>>();
                                    }
                                    { self.post(prompt).await }
                                },
                                &retry_permit,
                            )
                            .await;
                        match retry_outcome {
                            __retry::Ok(_) => {
                                if let __retry::Some(retry_turned) = __retry::Permit::succeeded(
                                    &mut retry_permit,
                                ) {
                                    __retry::Call::breaker_changed(
                                        &retry_call,
                                        ::core::concat!(::core::module_path!(), "::complete"),
                                        retry_turned,
                                        __retry::None,
                                        __retry::None,
                                    );
                                }
                                if __retry::Call::is_retried(&retry_call) {
                                    __retry::Call::healed(
                                        &retry_call,
                                        ::core::concat!(::core::module_path!(), "::complete"),
                                        __retry::None,
                                    );
                                }
                                {
                                    let retry_budget = __retry::budget(&self.budget);
                                    __retry::held(&retry_budget).__retry_is_shared();
                                    __retry::Call::credit(&retry_call, &retry_budget);
                                }
                            }
                            __retry::Err(retry_error) => {
                                let mut retry_cancel = __retry::cancelled(self.stop());
                                let mut retry_next = retry_call;
                                let retry_decision = __retry::cold(|| {
                                    let retry_budget = __retry::budget(&self.budget);
                                    __retry::held(&retry_budget).__retry_is_shared();
                                    #[allow(clippy::let_and_return)]
                                    let retry_decision = __retry::Call::failed_with(
                                        &mut retry_next,
                                        __retry::Failure::new(
                                                __RETRY_SITE,
                                                __retry::classify(&retry_error),
                                                __retry::show(&retry_error).__retry_show(),
                                            )
                                            .deadline(retry_deadline, __retry::now)
                                            .cancelled(
                                                __retry::is_cancelled(&mut retry_cancel, &retry_waker),
                                            )
                                            .budget(&retry_budget)
                                            .permit(&mut retry_permit),
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
                                    retry_failed = __retry::Some(retry_error);
                                    break 'retry_pause (retry_pause, retry_cancel);
                                }
                                __retry::drop(retry_cancel);
                                retry_outcome = __retry::Err(retry_error);
                            }
                        }
                        break 'retry_call retry_outcome;
                    };
                    let retry_by = 'retry_rejected: {
                        let mut retry_cancel = __retry::cancelled(self.stop());
                        let mut retry_next = retry_call;
                        let retry_decision = __retry::cold(|| {
                            __retry::Rejections::retry(
                                &mut retry_rejections,
                                &mut retry_next,
                                retry_by,
                                __retry::Failure::of_rejection(
                                        __RETRY_SITE,
                                        &__retry::Rejected::new(retry_by),
                                        retry_half_open_in,
                                    )
                                    .deadline(retry_deadline, __retry::now)
                                    .cancelled(
                                        __retry::is_cancelled(&mut retry_cancel, &retry_waker),
                                    ),
                            )
                        });
                        retry_call = retry_next;
                        match retry_decision {
                            __retry::Ok(retry_pause) => {
                                let retry_cancelled = __retry::pause_or_cancelled(
                                        retry_cancel,
                                        ::core::pin::pin!(
                                            __retry::sleep(retry_pause, __retry::Features)
                                        ),
                                    )
                                    .await;
                                if let __retry::Some(retry_why) = match ::core::primitive::bool::then_some(
                                    retry_cancelled,
                                    __retry::Reason::Cancelled,
                                ) {
                                    __retry::None => {
                                        __retry::late(retry_deadline, retry_pause, __retry::now)
                                    }
                                    retry_why => retry_why,
                                } {
                                    break 'retry_rejected __retry::RejectedBy::because(
                                        retry_by,
                                        retry_why,
                                    );
                                }
                                continue 'retry_again;
                            }
                            __retry::Err(retry_by) => retry_by,
                        }
                    };
                    __retry::drop(retry_unspent);
                    let retry_why = __retry::Rejected::reason(
                        __retry::Rejected::new(retry_by),
                    );
                    let retry_error: <Result<
                        Completion,
                        ModelError,
                    > as __retry::OutcomeTypes>::Error = match retry_failed {
                        __retry::Some(retry_error) => retry_error,
                        __retry::None => {
                            retry_call = __retry::Call::new()
                                .with_max(
                                    __retry::max(__retry::Site::policy(__RETRY_SITE)),
                                );
                            __retry::FromRejected::from_rejected(
                                __retry::Rejected::new(retry_by),
                            )
                        }
                    };
                    {
                        __retry::Call::ended_after_pause(
                            &retry_call,
                            ::core::concat!(::core::module_path!(), "::complete"),
                            __retry::show(&retry_error).__retry_show(),
                            __retry::Values::Taken,
                            __retry::Ending::Error,
                            retry_why,
                            __retry::None,
                        );
                    }
                    let retry_outcome = __retry::Err(retry_error);
                    break 'retry_call retry_outcome;
                }
            };
            let (retry_pause, retry_cancel) = retry_pause;
            let (retry_pause, retry_paid) = retry_pause;
            let retry_cancelled = __retry::pause_or_cancelled(
                    retry_cancel,
                    ::core::pin::pin!(__retry::sleep(retry_pause, __retry::Features)),
                )
                .await;
            if let __retry::Some(retry_why) = match ::core::primitive::bool::then_some(
                retry_cancelled,
                __retry::Reason::Cancelled,
            ) {
                __retry::None => __retry::late(retry_deadline, retry_pause, __retry::now),
                retry_why => retry_why,
            } {
                if let __retry::Some(retry_error) = retry_failed {
                    __retry::drop(retry_paid);
                    {
                        __retry::Call::ended_after_pause(
                            &retry_call,
                            ::core::concat!(::core::module_path!(), "::complete"),
                            __retry::show(&retry_error).__retry_show(),
                            __retry::Values::Taken,
                            __retry::Ending::Error,
                            retry_why,
                            __retry::None,
                        );
                    }
                    let retry_outcome = __retry::Err(retry_error);
                    break 'retry_call retry_outcome;
                }
            }
            retry_unspent = __retry::Some(retry_paid);
        }
    }
}
