//! A value that is validated: the body runs again with the complaint at hand.
fn extract(text: &str) -> Result<Answer, ModelError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{
        validate as _, attempt as _, give_up as _,
    };
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::Policy::new(),
        ::core::concat!(::core::module_path!(), "::extract"),
    );
    let mut retry_call = __retry::Call::new()
        .with_max(__retry::max(__retry::Site::policy(__RETRY_SITE)));
    let mut retry_history = __retry::Attempt::<
        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
        _,
    >::before_first(
        __retry::Clock::Live(__retry::now_blocking),
        __retry::Draft::<
            <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
        >::none(),
    );
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
            __retry::Attempt::begin(
                &mut retry_history,
                __retry::Call::limit(&retry_call),
            );
            #[allow(clippy::redundant_closure_call)]
            let mut retry_outcome: Result<Answer, ModelError> = (|| -> Result<
                Answer,
                ModelError,
            > {
                {
                    #[allow(unused_variables)]
                    let attempt = &retry_history;
                    { ask(text, attempt.last_error()) }
                }
            })();
            let retry_failure = 'retry_judged: {
                match retry_outcome {
                    __retry::Ok(retry_value) => {
                        let retry_checked = {
                            #[allow(unused_variables)]
                            let attempt = &retry_history;
                            #[allow(clippy::let_and_return)]
                            let retry_checked = __retry::check::<
                                _,
                                <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                            >(&retry_value, check);
                            retry_checked
                        };
                        if let __retry::Err(retry_error) = retry_checked {
                            break 'retry_judged __retry::Ok((retry_value, retry_error));
                        }
                        retry_outcome = __retry::Ok(retry_value);
                        if __retry::Call::is_retried(&retry_call) {
                            __retry::Call::healed(
                                &retry_call,
                                ::core::concat!(::core::module_path!(), "::extract"),
                                __retry::None,
                            );
                        }
                    }
                    __retry::Err(retry_error) => {
                        break 'retry_judged __retry::Err(retry_error);
                    }
                }
                break 'retry_call retry_outcome;
            };
            match retry_failure {
                __retry::Ok((retry_value, retry_error)) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
                            __retry::Failure::new(
                                    __RETRY_SITE,
                                    __retry::Attempt::judged(
                                        &retry_history,
                                        __retry::complaint::<
                                            <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                        >(&retry_error)
                                            .__retry_verdict(),
                                    ),
                                    __retry::show::<
                                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                    >(&retry_error)
                                        .__retry_show(),
                                )
                                .validates(),
                        );
                        retry_decision
                    });
                    retry_call = retry_next;
                    match retry_decision {
                        __retry::Ok(retry_pause) => {
                            __retry::Attempt::keep_value(
                                &mut retry_history,
                                retry_value,
                            );
                            __retry::Attempt::failed(&mut retry_history, retry_error);
                            __retry::Attempt::paused(&mut retry_history, retry_pause);
                            break 'retry_pause retry_pause;
                        }
                        __retry::Err(retry_reason) => {
                            __retry::Attempt::keep_value(
                                &mut retry_history,
                                retry_value,
                            );
                            retry_outcome = __retry::Err(
                                __retry::shape(
                                    __retry::Attempt::gave_up(
                                        retry_history,
                                        retry_error,
                                        retry_reason,
                                    ),
                                    explain,
                                ),
                            );
                        }
                    }
                }
                __retry::Err(retry_error) => {
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| {
                        #[allow(clippy::let_and_return)]
                        let retry_decision = __retry::Call::failed_with(
                            &mut retry_next,
                            __retry::Failure::new(
                                    __RETRY_SITE,
                                    __retry::Attempt::judged(
                                        &retry_history,
                                        __retry::classify(&retry_error),
                                    ),
                                    __retry::show::<
                                        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
                                    >(&retry_error)
                                        .__retry_show(),
                                )
                                .validates(),
                        );
                        retry_decision
                    });
                    retry_call = retry_next;
                    match retry_decision {
                        __retry::Ok(retry_pause) => {
                            __retry::Attempt::failed(&mut retry_history, retry_error);
                            __retry::Attempt::paused(&mut retry_history, retry_pause);
                            break 'retry_pause retry_pause;
                        }
                        __retry::Err(retry_reason) => {
                            retry_outcome = __retry::Err(
                                __retry::shape(
                                    __retry::Attempt::gave_up(
                                        retry_history,
                                        retry_error,
                                        retry_reason,
                                    ),
                                    explain,
                                ),
                            );
                        }
                    }
                }
            }
            break 'retry_call retry_outcome;
        };
        __retry::BlockingTimer::sleep(&__retry::DefaultTimer, retry_pause);
    }
}
