//! Spans around a call and its attempts.
async fn fetch(url: &str) -> Result<Page, FetchError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{max as _, span as _, on as _};
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::policy_of(__retry::Section::new().max(3u32)),
        ::core::concat!(::core::module_path!(), "::fetch"),
    );
    let retry_spans: bool = true;
    let retry_span = __retry::span::of_call(
        __retry::Features,
        retry_spans,
        ::core::concat!(::core::module_path!(), "::fetch"),
    );
    let retry_spanned = ::core::pin::pin!(
        async { __retry::expect_timer(); let mut retry_call = __retry::Retries::new();
        'retry_call : loop { let retry_pause = 'retry_pause : { let retry_attempt_span =
        __retry::span::of_attempt(retry_spans, __retry::Call::attempt(& retry_call
        .whole(__RETRY_SITE))); let mut retry_outcome : Result < Page, FetchError > = {
        #[allow(clippy::redundant_closure_call)] let retry_attempt =
        ::core::pin::pin!(async { if false { return __retry::never::<Result < Page,
        FetchError > > (); } { get(url). await } }); let retry_attempt =
        ::core::pin::pin!(__retry::span::within(retry_attempt, & retry_attempt_span));
        #[allow(clippy::let_and_return)] let retry_finished = retry_attempt. await;
        retry_finished }; match retry_outcome { __retry::Ok(_) => { retry_call
        .healed(__RETRY_SITE); } __retry::Err(retry_error) => { if let
        __retry::Some(retry_pause) = __retry::cold(|| retry_call
        .failed_plainly(__RETRY_SITE,
        __retry::IntoVerdict::into_verdict(__retry::answer(& retry_error, is_retryable)),
        __retry::show(& retry_error).__retry_show())) { retry_call = retry_call.next();
        break 'retry_pause retry_pause; } retry_outcome = __retry::Err(retry_error); } }
        break 'retry_call retry_outcome; }; let () =
        __retry::Timer::sleep(&__retry::default_timer::< __retry::Features > (),
        retry_pause). await; } }
    );
    #[allow(clippy::let_and_return)]
    let retry_finished = __retry::span::within(retry_spanned, &retry_span).await;
    retry_finished
}
fn read(path: &Path) -> Result<Page, ReadError> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::{max as _, span as _, on as _};
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::policy_of(__retry::Section::new().max(3u32)),
        ::core::concat!(::core::module_path!(), "::read"),
    );
    let retry_spans: bool = true;
    let retry_span = __retry::span::of_call(
        __retry::Features,
        retry_spans,
        ::core::concat!(::core::module_path!(), "::read"),
    );
    let retry_entered = __retry::span::enter(&retry_span);
    let retry_finished = {
        let mut retry_call = __retry::Retries::new();
        'retry_call: loop {
            let retry_pause = 'retry_pause: {
                let retry_attempt_span = __retry::span::of_attempt(
                    retry_spans,
                    __retry::Call::attempt(&retry_call.whole(__RETRY_SITE)),
                );
                #[allow(clippy::redundant_closure_call)]
                let mut retry_outcome: Result<Page, ReadError> = {
                    let retry_in_span = __retry::span::enter(&retry_attempt_span);
                    let retry_finished = (|| -> Result<Page, ReadError> {
                        { open(path) }
                    })();
                    __retry::drop(retry_in_span);
                    retry_finished
                };
                match retry_outcome {
                    __retry::Ok(_) => {
                        retry_call.healed(__RETRY_SITE);
                    }
                    __retry::Err(retry_error) => {
                        if let __retry::Some(retry_pause) = __retry::cold(|| {
                            retry_call
                                .failed_plainly(
                                    __RETRY_SITE,
                                    __retry::IntoVerdict::into_verdict(
                                        __retry::answer(&retry_error, is_retryable),
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
            __retry::BlockingTimer::sleep(&__retry::DefaultTimer, retry_pause);
        }
    };
    __retry::drop(retry_entered);
    retry_finished
}
