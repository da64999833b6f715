//! Expressions in programs with strict lints and conflicting names.

#![deny(warnings, clippy::all, clippy::pedantic, unused_qualifications)]
#![no_implicit_prelude]

extern crate std;

use ::retry_runtime::retrying;
use ::std::convert::Into as _;

const RETRY_CALL: u32 = 5;

#[allow(dead_code)]
enum Result {
    Ok,
    Err,
}

struct Client {
    failures: u32,
}

impl Client {
    async fn ask(&mut self) -> ::std::io::Result<u32> {
        match self.failures {
            0 => ::std::result::Result::Ok(RETRY_CALL),
            _ => {
                self.failures -= 1;
                ::std::result::Result::Err(::std::io::ErrorKind::ConnectionRefused.into())
            }
        }
    }

    async fn complete(&mut self) -> ::std::io::Result<u32> {
        let answer = retrying!(max = 2, base = "1ms", async { self.ask().await }).await?;
        ::std::result::Result::Ok(answer)
    }

    fn blocking(&mut self) -> ::std::io::Result<u32> {
        retrying!(
            max = 2,
            base = "1ms",
            attempt = attempt,
            give_up = |gave_up| gave_up.into_error(),
            {
                if attempt.number() == 1 {
                    return ::std::result::Result::Err(::std::io::ErrorKind::TimedOut.into());
                }
                self.failures += 1;
                ::std::result::Result::Ok(self.failures)
            }
        )
    }
}

fn main() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut client = Client { failures: 2 };
    ::std::assert_eq!(runtime.block_on(client.complete()).unwrap(), 5);
    ::std::assert_eq!(client.blocking().unwrap(), 1);
}
