//! A blocking function with a value that is not yet good enough.
fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut retry_call = ::retry_runtime::macro_support::Call::new();
    'retry_call: loop {
        let retry_pause = 'retry_pause: {
            #[allow(clippy::redundant_closure_call)]
            let mut retry_outcome = ::retry_runtime::macro_support::into_result::<
                io::Result<Vec<String>>,
            >(
                (|| -> io::Result<Vec<String>> {
                    {
                        fs::read_to_string(path)
                            .map(|text| text.lines().map(String::from).collect())
                    }
                })(),
            );
            match retry_outcome {
                ::core::result::Result::Ok(ref retry_value) => {
                    if ::retry_runtime::macro_support::accepts(
                        retry_value,
                        |lines| !lines.is_empty(),
                    ) {
                        ::retry_runtime::macro_support::Call::healed(
                            retry_call,
                            ::retry_runtime::macro_support::DEFAULT_MAX,
                            ::core::concat!(::core::module_path!(), "::read"),
                        );
                    } else {
                        match ::retry_runtime::macro_support::cold(|| ::retry_runtime::macro_support::Call::failed_plainly(
                            retry_call,
                            const {
                                &::retry_runtime::macro_support::Site::new(
                                    const { &::retry_runtime::Policy::new() },
                                    ::core::concat!(::core::module_path!(), "::read"),
                                )
                            },
                            ::retry_runtime::Verdict::TRANSIENT,
                            &::retry_runtime::macro_support::REJECTED_VALUE,
                        )) {
                            ::core::option::Option::Some(retry_pause) => {
                                retry_call = ::retry_runtime::macro_support::Call::next(
                                    retry_call,
                                );
                                break 'retry_pause retry_pause;
                            }
                            ::core::option::Option::None => {}
                        }
                    }
                }
                ::core::result::Result::Err(retry_error) => {
                    match ::retry_runtime::macro_support::cold(|| ::retry_runtime::macro_support::Call::failed_plainly(
                        retry_call,
                        const {
                            &::retry_runtime::macro_support::Site::new(
                                const { &::retry_runtime::Policy::new() },
                                ::core::concat!(::core::module_path!(), "::read"),
                            )
                        },
                        ::retry_runtime::macro_support::classify(&retry_error),
                        ::retry_runtime::macro_support::show(&retry_error).__retry_show(),
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
        ::retry_runtime::macro_support::sleep_blocking(retry_pause);
    }
}
