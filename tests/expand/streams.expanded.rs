//! Streams: the loop in a block that hands items over, and a loop that an async function awaits.
fn events(feed: &Feed) -> impl Stream<Item = Result<Event, FeedError>> + Send {
    let (retry_giver, retry_taker) = ::retry_runtime::macro_support::stream::hand_over::<
        Result<Event, FeedError>,
    >();
    let retry_stream = ::retry_runtime::macro_support::stream::Retried::new(
        retry_taker,
        async move {
            let retry_outcome = {
                let mut retry_call = ::retry_runtime::macro_support::Call::new();
                let mut retry_history = ::retry_runtime::macro_support::stream::resume::history::<
                    Result<Event, FeedError>,
                >();
                'retry_call: loop {
                    let retry_pause = 'retry_pause: {
                        ::retry_runtime::macro_support::begin(
                            &mut retry_history,
                            ::retry_runtime::macro_support::limit(const {
                                &::retry_runtime::Policy::new()
                            }),
                        );
                        let mut retry_progress = ::retry_runtime::macro_support::stream::resume::progress::<
                            Result<Event, FeedError>,
                        >();
                        let retry_patience = ::retry_runtime::macro_support::stream::endless::<
                            Result<Event, FeedError>,
                        >();
                        #[allow(clippy::redundant_closure_call)]
                        let retry_opened = ::core::result::Result::Ok(
                            (|| -> _ {
                                let attempt = &retry_history;
                                { feed.after(attempt.last_item()) }
                            })(),
                        );
                        let retry_ended = match retry_opened {
                            ::core::result::Result::Ok(retry_stream) => {
                                ::retry_runtime::macro_support::stream::resume::attempt(
                                        retry_stream,
                                        retry_patience,
                                        &retry_giver,
                                        &mut retry_progress,
                                    )
                                    .await
                            }
                            ::core::result::Result::Err(retry_stopped) => {
                                ::core::result::Result::Err(retry_stopped)
                            }
                        };
                        let mut retry_outcome = ::retry_runtime::macro_support::stream::outcome::<
                            Result<Event, FeedError>,
                            _,
                        >(retry_ended);
                        match retry_outcome {
                            ::core::result::Result::Ok(_) => {
                                ::retry_runtime::macro_support::Call::healed(
                                    retry_call,
                                    ::retry_runtime::macro_support::DEFAULT_MAX,
                                    ::core::concat!(::core::module_path!(), "::events"),
                                );
                            }
                            ::core::result::Result::Err(retry_error) => {
                                match ::retry_runtime::macro_support::cold(|| ::retry_runtime::macro_support::Call::failed_plainly(
                                    retry_call,
                                    const {
                                        &::retry_runtime::macro_support::Site::new(
                                            const { &::retry_runtime::Policy::new() },
                                            ::core::concat!(::core::module_path!(), "::events"),
                                        )
                                    },
                                    ::retry_runtime::macro_support::verdict(
                                        &retry_error,
                                        is_retryable,
                                    ),
                                    ::retry_runtime::macro_support::show(&retry_error)
                                        .__retry_show(),
                                )) {
                                    ::core::option::Option::Some(retry_pause) => {
                                        retry_call = ::retry_runtime::macro_support::Call::next(
                                            retry_call,
                                        );
                                        ::retry_runtime::macro_support::stream::resume::keep(
                                            &mut retry_history,
                                            retry_progress,
                                        );
                                        ::retry_runtime::macro_support::failed(
                                            &mut retry_history,
                                            retry_error,
                                        );
                                        break 'retry_pause retry_pause;
                                    }
                                    ::core::option::Option::None => {
                                        retry_outcome = ::core::result::Result::Err(retry_error);
                                    }
                                }
                            }
                        }
                        break 'retry_call retry_outcome;
                    };
                    ::retry_runtime::macro_support::sleep(
                            retry_pause,
                            ::retry_runtime::macro_support::Features,
                        )
                        .await;
                }
            };
            ::retry_runtime::macro_support::stream::resume::finish(
                    retry_giver,
                    retry_outcome,
                )
                .await
        },
    );
    retry_stream
}
async fn tokens(
    model: &Model,
) -> Result<BoxStream<'static, Result<Token, ModelError>>, ModelError> {
    let retry_outcome = {
        let mut retry_call = ::retry_runtime::macro_support::Call::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let mut retry_patience = ::retry_runtime::macro_support::stream::patience::<
                    Result<Token, ModelError>,
                    _,
                >(
                    ::retry_runtime::macro_support::default_timer::<
                        ::retry_runtime::macro_support::Features,
                    >(),
                    ::retry_runtime::macro_support::timeout(
                        ::core::time::Duration::new(30u64, 0u32),
                    ),
                    ::retry_runtime::macro_support::FromTimedOut::from_timed_out,
                );
                #[allow(clippy::redundant_closure_call)]
                let retry_opened = ::retry_runtime::macro_support::stream::Patience::wait(
                        &mut retry_patience,
                        async {
                            if false {
                                return ::retry_runtime::macro_support::never::<
                                    Result<
                                        BoxStream<'static, Result<Token, ModelError>>,
                                        ModelError,
                                    >,
                                >();
                            }
                            { model.open().await }
                        },
                    )
                    .await;
                let retry_opened = ::retry_runtime::macro_support::stream::flatten::<
                    Result<Token, ModelError>,
                    _,
                    _,
                >(retry_opened);
                let retry_ended = match retry_opened {
                    ::core::result::Result::Ok(retry_stream) => {
                        ::retry_runtime::macro_support::stream::first::attempt(
                                retry_stream,
                                retry_patience,
                            )
                            .await
                    }
                    ::core::result::Result::Err(retry_stopped) => {
                        ::core::result::Result::Err(retry_stopped)
                    }
                };
                let retry_dropped = ::retry_runtime::macro_support::stream::is_dropped(
                    &retry_ended,
                );
                let mut retry_outcome = ::retry_runtime::macro_support::stream::outcome::<
                    Result<Token, ModelError>,
                    _,
                >(retry_ended);
                match retry_outcome {
                    ::core::result::Result::Ok(_) => {
                        ::retry_runtime::macro_support::Call::healed(
                            retry_call,
                            ::retry_runtime::macro_support::DEFAULT_MAX,
                            ::core::concat!(::core::module_path!(), "::tokens"),
                        );
                    }
                    ::core::result::Result::Err(retry_error) => {
                        match ::retry_runtime::macro_support::cold(|| ::retry_runtime::macro_support::Call::failed_plainly(
                            retry_call,
                            const {
                                &::retry_runtime::macro_support::Site::new(
                                    const { &::retry_runtime::Policy::new() },
                                    ::core::concat!(::core::module_path!(), "::tokens"),
                                )
                            },
                            ::retry_runtime::macro_support::of_attempt(
                                ::retry_runtime::macro_support::classify(&retry_error),
                                retry_dropped,
                            ),
                            ::retry_runtime::macro_support::show(&retry_error)
                                .__retry_show(),
                        )) {
                            ::core::option::Option::Some(retry_pause) => {
                                retry_call = ::retry_runtime::macro_support::Call::next(
                                    retry_call,
                                );
                                break 'retry_pause retry_pause;
                            }
                            ::core::option::Option::None => {
                                retry_outcome = ::core::result::Result::Err(retry_error);
                            }
                        }
                    }
                }
                break 'retry_call retry_outcome;
            };
            ::retry_runtime::macro_support::sleep(
                    retry_pause,
                    ::retry_runtime::macro_support::Features,
                )
                .await;
        }
    };
    match retry_outcome {
        ::core::result::Result::Ok(retry_value) => {
            let retry_outcome = ::core::result::Result::Ok(retry_value);
            ::core::result::Result::Ok({
                let retry_boxed: BoxStream<'static, Result<Token, ModelError>> = ::retry_runtime::macro_support::Box::pin(
                    ::retry_runtime::macro_support::stream::first::into_stream(
                        retry_outcome,
                    ),
                );
                retry_boxed
            })
        }
        ::core::result::Result::Err(retry_error) => {
            ::core::result::Result::Err(retry_error)
        }
    }
}
