//! A blocking function with a value that is not yet good enough.
fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut call = ::retry_runtime::macro_support::Call::new();
    loop {
        let pause = {
            #[allow(clippy::redundant_closure_call)]
            let outcome = ::retry_runtime::macro_support::into_result::<
                io::Result<Vec<String>>,
            >(
                (|| -> io::Result<Vec<String>> {
                    {
                        fs::read_to_string(path)
                            .map(|text| text.lines().map(String::from).collect())
                    }
                })(),
            );
            match outcome {
                ::core::result::Result::Ok(value) => {
                    if ::retry_runtime::macro_support::accepts(
                        &value,
                        |lines| !lines.is_empty(),
                    ) {
                        if call.is_retried() {
                            ::retry_runtime::macro_support::succeeded(
                                &const { ::retry_runtime::Policy::new() },
                                ::core::concat!(::core::module_path!(), "::read"),
                                call.attempt(),
                                ::core::option::Option::None,
                            );
                        }
                        break ::core::result::Result::Ok(value);
                    }
                    let decision = {
                        #[allow(clippy::let_and_return)]
                        let decision = call
                            .failed(
                                ::retry_runtime::macro_support::Failure::new(
                                    &const { ::retry_runtime::Policy::new() },
                                    ::retry_runtime::Verdict::TRANSIENT,
                                    ::core::concat!(::core::module_path!(), "::read"),
                                    &::retry_runtime::macro_support::REJECTED_VALUE,
                                ),
                            );
                        decision
                    };
                    match decision {
                        ::core::result::Result::Ok(pause) => pause,
                        ::core::result::Result::Err(_) => {
                            break ::core::result::Result::Ok(value);
                        }
                    }
                }
                ::core::result::Result::Err(error) => {
                    let verdict = ::retry_runtime::macro_support::classify(&error);
                    let decision = {
                        #[allow(unused_imports)]
                        use ::retry_runtime::macro_support::{
                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                        };
                        #[allow(clippy::let_and_return)]
                        let decision = call
                            .failed(
                                ::retry_runtime::macro_support::Failure::new(
                                    &const { ::retry_runtime::Policy::new() },
                                    verdict,
                                    ::core::concat!(::core::module_path!(), "::read"),
                                    &(&&&::retry_runtime::macro_support::Show(&error))
                                        .__retry_show(),
                                ),
                            );
                        decision
                    };
                    match decision {
                        ::core::result::Result::Ok(pause) => pause,
                        ::core::result::Result::Err(_) => {
                            break ::core::result::Result::Err(error);
                        }
                    }
                }
            }
        };
        ::retry_runtime::macro_support::sleep_blocking(pause);
    }
}
