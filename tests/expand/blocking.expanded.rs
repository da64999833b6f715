//! A blocking function with a value that is not yet good enough.
fn read(path: &Path) -> io::Result<Vec<String>> {
    use ::retry_runtime::macro_support as __retry;
    use ::retry_runtime::macro_support::keys::until as _;
    const __RETRY_SITE: &__retry::Site<'_> = &__retry::Site::new(
        &__retry::Policy::new(),
        ::core::concat!(::core::module_path!(), "::read"),
    );
    let mut retry_call = __retry::Retries::new();
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
            #[allow(clippy::redundant_closure_call)]
            let mut retry_outcome: io::Result<Vec<String>> = (|| -> io::Result<
                Vec<String>,
            > {
                {
                    fs::read_to_string(path)
                        .map(|text| text.lines().map(String::from).collect())
                }
            })();
            match retry_outcome {
                __retry::Ok(retry_value) => {
                    if __retry::accepts(
                        &retry_value,
                        |lines| !lines.is_empty(),
                    ) {} else {
                        retry_outcome = __retry::Ok(retry_value);
                        if let __retry::Some(retry_pause) = __retry::cold(|| {
                            retry_call
                                .failed_plainly(
                                    __RETRY_SITE,
                                    __retry::Verdict::UNTIL,
                                    &__retry::REJECTED_VALUE,
                                )
                        }) {
                            retry_call = retry_call.next();
                            break 'retry_pause retry_pause;
                        }
                        break 'retry_call retry_outcome;
                    }
                    retry_outcome = __retry::Ok(retry_value);
                    retry_call.healed(__RETRY_SITE);
                }
                __retry::Err(retry_error) => {
                    if let __retry::Some(retry_pause) = __retry::cold(|| {
                        retry_call
                            .failed_plainly(
                                __RETRY_SITE,
                                __retry::classify(&retry_error),
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
}
