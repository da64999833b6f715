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
            let retried = call.is_retried();
            match outcome {
                ::core::result::Result::Ok(value) => {
                    if ::retry_runtime::macro_support::accepts(
                        &value,
                        |lines| !lines.is_empty(),
                    ) {
                        if retried {
                            ::retry_runtime::macro_support::succeeded(
                                &const { ::retry_runtime::Policy::new() },
                                ::core::concat!(::core::module_path!(), "::read"),
                                call.attempt(),
                                ::core::option::Option::None,
                            );
                        }
                        break ::core::result::Result::Ok(value);
                    }
                    let mut next = call;
                    let decision = ::retry_runtime::macro_support::cold(|| {
                        #[allow(clippy::let_and_return)]
                        let decision = next
                            .failed(
                                ::retry_runtime::macro_support::Failure::new(
                                    &const { ::retry_runtime::Policy::new() },
                                    ::retry_runtime::Verdict::TRANSIENT,
                                    ::core::concat!(::core::module_path!(), "::read"),
                                    &::retry_runtime::macro_support::REJECTED_VALUE,
                                ),
                            );
                        decision
                    });
                    match decision {
                        ::core::result::Result::Ok(pause) => {
                            call = next;
                            pause
                        }
                        ::core::result::Result::Err(_) => {
                            break ::core::result::Result::Ok(value);
                        }
                    }
                }
                ::core::result::Result::Err(error) => {
                    let mut next = call;
                    let decision = ::retry_runtime::macro_support::cold(|| {
                        #[allow(unused_imports)]
                        use ::retry_runtime::macro_support::{
                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                        };
                        #[allow(clippy::let_and_return)]
                        let decision = next
                            .failed(
                                ::retry_runtime::macro_support::Failure::new(
                                    &const { ::retry_runtime::Policy::new() },
                                    ::retry_runtime::macro_support::classify(&error),
                                    ::core::concat!(::core::module_path!(), "::read"),
                                    &(&&&::retry_runtime::macro_support::Show(&error))
                                        .__retry_show(),
                                ),
                            );
                        decision
                    });
                    match decision {
                        ::core::result::Result::Ok(pause) => {
                            call = next;
                            pause
                        }
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
