//! Streams: the loop in a block that hands items over, and a loop that an async function awaits.
fn events(feed: &Feed) -> impl Stream<Item = Result<Event, FeedError>> + Send {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{stream as _, attempt as _, on as _};
    let (retry_giver, retry_taker) = __retry::stream::hand_over::<
        Result<Event, FeedError>,
    >();
    let retry_stream = __retry::stream::Retried::new(
        retry_taker,
        async move {
            let retry_outcome = {
                const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
                    &__retry::Policy::new(),
                    ::core::concat!(::core::module_path!(), "::events"),
                );
                let retry_call = &mut __retry::Driver::new(
                    (),
                    __retry::expected_timer::<__retry::Features>(),
                );
                retry_call.begin_under(__retry::Site::policy(__RETRY_SITE));
                let mut retry_history = __retry::stream::resume::history::<
                    Result<Event, FeedError>,
                >(__retry::Clock::None);
                'retry_call: {
                    'retry_attempts: loop {
                        while retry_call.waits(__retry::Reporter::at(__RETRY_SITE)) {
                            let () = retry_call.wait(__retry::uncancelled()).await;
                        }
                        __retry::Attempt::begin(&mut retry_history, retry_call.max());
                        let mut retry_progress = __retry::stream::resume::progress::<
                            Result<Event, FeedError>,
                        >(__retry::now);
                        let retry_ended = {
                            let retry_patience = __retry::stream::endless::<
                                Result<Event, FeedError>,
                            >();
                            let retry_opened = __retry::once(|| -> _ {
                                {
                                    let attempt = &retry_history;
                                    { feed.after(attempt.last_item()) }
                                }
                            });
                            let retry_started = async {
                                let retry_stream = __retry::stream::first::boxed(
                                    retry_opened,
                                );
                                __retry::stream::first::attempt(
                                        retry_stream,
                                        retry_patience,
                                        __retry::stream::first::any,
                                    )
                                    .await
                            }
                                .await;
                            match retry_started {
                                __retry::Ok(retry_started) => {
                                    retry_call.answered(__retry::Reporter::at(__RETRY_SITE));
                                    __retry::stream::resume::pass_on(
                                            retry_started,
                                            &retry_giver,
                                            &mut retry_progress,
                                        )
                                        .await
                                }
                                __retry::Err(retry_stopped) => __retry::Err(retry_stopped),
                            }
                        };
                        let mut retry_outcome = __retry::stream::outcome::<
                            Result<Event, FeedError>,
                            _,
                        >(retry_ended);
                        match retry_outcome {
                            __retry::Ok(_) => {
                                retry_call
                                    .report_success(__retry::Reporter::at(__RETRY_SITE));
                            }
                            __retry::Err(retry_error) => {
                                let retry_decision = __retry::cold(|| {
                                    if let __retry::Some(retry_lasted) = __retry::Attempt::take_progress(
                                        &mut retry_history,
                                        __retry::stream::resume::streamed(&retry_progress),
                                        __retry::now,
                                    ) {
                                        retry_call.restart(retry_lasted);
                                    }
                                    retry_call
                                        .failed(
                                            __retry::Failure::new(
                                                    __RETRY_SITE,
                                                    __retry::IntoVerdict::into_verdict(
                                                        __retry::answer(&retry_error, is_retryable),
                                                    ),
                                                    __retry::show(&retry_error).__retry_show(),
                                                )
                                                .forgotten(),
                                            __retry::Reporter::at(__RETRY_SITE),
                                        )
                                });
                                if __retry::Result::is_ok(&retry_decision) {
                                    __retry::stream::resume::keep(
                                        &mut retry_history,
                                        retry_progress,
                                    );
                                    __retry::Attempt::failed(&mut retry_history, retry_error);
                                    continue 'retry_attempts;
                                }
                                break 'retry_call __retry::Err(retry_error);
                            }
                        }
                        break 'retry_call retry_outcome;
                    }
                }
            };
            __retry::stream::resume::finish(retry_giver, retry_outcome).await
        },
    );
    retry_stream
}
async fn tokens(
    model: &Model,
) -> Result<BoxStream<'static, Result<Token, ModelError>>, ModelError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{stream as _, timeout as _};
    let retry_outcome = {
        const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
            &__retry::Policy::new(),
            ::core::concat!(::core::module_path!(), "::tokens"),
        );
        __retry::expect_timer();
        let mut retry_call = __retry::Retries::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let retry_ended = {
                    let retry_limit = __retry::Some(
                        ::core::time::Duration::new(30u64, 0u32),
                    );
                    let retry_patience = __retry::stream::patience::<
                        Result<Token, ModelError>,
                        _,
                    >(
                        __retry::default_timer::<__retry::Features>(),
                        retry_limit,
                        __retry::FromTimedOut::from_timed_out,
                    );
                    let retry_started = __retry::stream::in_time::<
                        Result<Token, ModelError>,
                        _,
                    >(
                            __retry::default_timer::<__retry::Features>(),
                            retry_limit,
                            __retry::FromTimedOut::from_timed_out,
                            async {
                                let retry_stream = __retry::stream::first::boxed(
                                    __retry::stream::or_failed(
                                        async {
                                            if false {
                                                return __retry::never::<
                                                    Result<
                                                        BoxStream<'static, Result<Token, ModelError>>,
                                                        ModelError,
                                                    >,
                                                >();
                                            }
                                            { model.open().await }
                                        }
                                            .await,
                                        __retry::stream::error_types::<
                                            Result<Token, ModelError>,
                                            _,
                                        >()
                                            .0,
                                    )?,
                                );
                                __retry::stream::first::attempt(
                                        retry_stream,
                                        retry_patience,
                                        __retry::stream::first::any,
                                    )
                                    .await
                            },
                        )
                        .await;
                    retry_started
                };
                let retry_dropped = __retry::stream::is_dropped(&retry_ended);
                let mut retry_outcome = __retry::stream::outcome::<
                    Result<Token, ModelError>,
                    _,
                >(retry_ended);
                match retry_outcome {
                    __retry::Ok(_) => {
                        retry_call.healed(__RETRY_SITE);
                    }
                    __retry::Err(retry_error) => {
                        if let __retry::Some(retry_pause) = __retry::cold(|| {
                            retry_call
                                .failed_plainly(
                                    __RETRY_SITE,
                                    __retry::of_attempt(
                                        __retry::classify(&retry_error),
                                        retry_dropped,
                                    ),
                                    __retry::show(&retry_error).__retry_show(),
                                )
                        }) {
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
    };
    match retry_outcome {
        __retry::Ok(retry_value) => {
            let retry_outcome = __retry::Ok(retry_value);
            __retry::Ok({
                let retry_boxed: BoxStream<'static, Result<Token, ModelError>> = __retry::Box::pin(
                    __retry::stream::first::into_stream(retry_outcome),
                );
                retry_boxed
            })
        }
        __retry::Err(retry_error) => {
            __retry::Err(
                (__retry::stream::error_types::<Result<Token, ModelError>, _>()
                    .1)(retry_error),
            )
        }
    }
}
