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
    let retry_call = &mut __retry::Driver::blocking(
        (),
        __retry::blocking_timer(__retry::DefaultTimer),
    );
    retry_call.begin_under(__retry::Site::policy(__RETRY_SITE));
    let mut retry_history = __retry::Attempt::<
        <Result<Answer, ModelError> as __retry::OutcomeTypes>::Error,
        _,
    >::before_first(
        __retry::Clock::Live(__retry::now_blocking),
        __retry::Draft::<
            <Result<Answer, ModelError> as __retry::OutcomeTypes>::Value,
        >::none(),
    );
    'retry_call: {
        let (retry_error, retry_reason) = 'retry_ended: {
            'retry_attempts: loop {
                while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                    retry_call.wait_blocking(&__retry::Uncancelled);
                }
                __retry::Attempt::begin(&mut retry_history, retry_call.max());
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
                match retry_outcome {
                    __retry::Ok(retry_value) => {
                        retry_call.answered(__retry::Reporter::at(__RETRY_SITE));
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
                            let retry_decision = __retry::cold(|| {
                                retry_call
                                    .failed(
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
                                            .validates()
                                            .forgotten(),
                                        __retry::Reporter::at(__RETRY_SITE),
                                    )
                            });
                            match retry_decision {
                                __retry::Ok(retry_pause) => {
                                    __retry::Attempt::keep_value(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    __retry::Attempt::failed(&mut retry_history, retry_error);
                                    __retry::Attempt::paused(&mut retry_history, retry_pause);
                                    continue 'retry_attempts;
                                }
                                __retry::Err(retry_reason) => {
                                    __retry::Attempt::keep_value(
                                        &mut retry_history,
                                        retry_value,
                                    );
                                    break 'retry_ended (retry_error, retry_reason);
                                }
                            }
                        }
                        retry_outcome = __retry::Ok(retry_value);
                        retry_call.succeeded(__retry::Reporter::at(__RETRY_SITE));
                    }
                    __retry::Err(retry_error) => {
                        let retry_decision = __retry::cold(|| {
                            retry_call
                                .failed(
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
                                        .validates()
                                        .forgotten(),
                                    __retry::Reporter::at(__RETRY_SITE),
                                )
                        });
                        match retry_decision {
                            __retry::Ok(retry_pause) => {
                                __retry::Attempt::failed(&mut retry_history, retry_error);
                                __retry::Attempt::paused(&mut retry_history, retry_pause);
                                continue 'retry_attempts;
                            }
                            __retry::Err(retry_reason) => {
                                break 'retry_ended (retry_error, retry_reason);
                            }
                        }
                    }
                }
                break 'retry_call retry_outcome;
            }
        };
        let retry_gave_up = __retry::Attempt::gave_up(
            retry_history,
            retry_error,
            retry_reason,
        );
        break 'retry_call __retry::Err(__retry::shape(retry_gave_up, explain));
    }
}
