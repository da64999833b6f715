//! A blocking function with a value that is not yet good enough.
fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut retry_call = ::retry_runtime::macro_support::Call::new();
    loop {
        let retry_pause = {
            #[allow(clippy::redundant_closure_call)]
            let retry_outcome = ::retry_runtime::macro_support::into_result::<
                io::Result<Vec<String>>,
            >(
                (|| -> io::Result<Vec<String>> {
                    {
                        fs::read_to_string(path)
                            .map(|text| text.lines().map(String::from).collect())
                    }
                })(),
            );
            let retry_retried = ::retry_runtime::macro_support::Call::is_retried(
                &retry_call,
            );
            match retry_outcome {
                ::core::result::Result::Ok(retry_value) => {
                    if ::retry_runtime::macro_support::accepts(
                        &retry_value,
                        |lines| !lines.is_empty(),
                    ) {
                        if retry_retried {
                            ::retry_runtime::macro_support::Call::succeeded(
                                retry_call,
                                &const { ::retry_runtime::Policy::new() },
                                ::core::concat!(::core::module_path!(), "::read"),
                                ::core::option::Option::None,
                            );
                        }
                        break ::core::result::Result::Ok(retry_value);
                    } else {
                        let mut retry_next = retry_call;
                        let retry_decision = ::retry_runtime::macro_support::cold(|| {
                            #[allow(clippy::let_and_return)]
                            let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                                &mut retry_next,
                                &const { ::retry_runtime::Policy::new() },
                                ::retry_runtime::Verdict::TRANSIENT,
                                ::core::concat!(::core::module_path!(), "::read"),
                                &::retry_runtime::macro_support::REJECTED_VALUE,
                            );
                            retry_decision
                        });
                        match retry_decision {
                            ::core::result::Result::Ok(retry_pause) => {
                                retry_call = retry_next;
                                retry_pause
                            }
                            ::core::result::Result::Err(_) => {
                                break ::core::result::Result::Ok(retry_value);
                            }
                        }
                    }
                }
                ::core::result::Result::Err(retry_error) => {
                    let mut retry_next = retry_call;
                    let retry_decision = ::retry_runtime::macro_support::cold(|| {
                        #[allow(unused_imports)]
                        use ::retry_runtime::macro_support::{
                            ShowDebug as _, ShowDisplay as _, ShowName as _,
                        };
                        #[allow(clippy::let_and_return)]
                        let retry_decision = ::retry_runtime::macro_support::Call::failed_plainly(
                            &mut retry_next,
                            &const { ::retry_runtime::Policy::new() },
                            ::retry_runtime::macro_support::classify(&retry_error),
                            ::core::concat!(::core::module_path!(), "::read"),
                            &(&&&::retry_runtime::macro_support::Show(&retry_error))
                                .__retry_show(),
                        );
                        retry_decision
                    });
                    match retry_decision {
                        ::core::result::Result::Ok(retry_pause) => {
                            retry_call = retry_next;
                            retry_pause
                        }
                        ::core::result::Result::Err(_) => {
                            break ::core::result::Result::Err(retry_error);
                        }
                    }
                }
            }
        };
        ::retry_runtime::macro_support::sleep_blocking(retry_pause);
    }
}
