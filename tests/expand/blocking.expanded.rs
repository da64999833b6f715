//! A blocking function with a value that is not yet good enough.
fn read(path: &Path) -> io::Result<Vec<String>> {
    static __RETRY_SITE: ::retry_runtime::macro_support::Site<'static> = ::retry_runtime::macro_support::Site::new(
        &const { ::retry_runtime::Policy::new() },
        ::core::concat!(::core::module_path!(), "::read"),
    );
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
                            &__RETRY_SITE,
                        );
                    } else {
                        match {
                            let retry_decision = ::retry_runtime::macro_support::cold(|| {
                                #[allow(clippy::let_and_return)]
                                let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                                    retry_call,
                                    &__RETRY_SITE,
                                    ::retry_runtime::Verdict::TRANSIENT,
                                    &::retry_runtime::macro_support::REJECTED_VALUE,
                                );
                                retry_decision
                            });
                            retry_call = ::retry_runtime::macro_support::Call::next(
                                retry_call,
                            );
                            retry_decision
                        } {
                            ::core::option::Option::Some(retry_pause) => {
                                break 'retry_pause retry_pause;
                            }
                            ::core::option::Option::None => {}
                        }
                    }
                }
                ::core::result::Result::Err(retry_error) => {
                    match {
                        let retry_decision = ::retry_runtime::macro_support::cold(|| {
                            #[allow(unused_imports)]
                            use ::retry_runtime::macro_support::{
                                ShowDebug as _, ShowName as _,
                            };
                            #[allow(clippy::let_and_return)]
                            let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                                retry_call,
                                &__RETRY_SITE,
                                ::retry_runtime::macro_support::classify(&retry_error),
                                &(&::retry_runtime::macro_support::Show(&retry_error))
                                    .__retry_show(),
                            );
                            retry_decision
                        });
                        retry_call = ::retry_runtime::macro_support::Call::next(
                            retry_call,
                        );
                        retry_decision
                    } {
                        ::core::option::Option::Some(retry_pause) => {
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
