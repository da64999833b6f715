//! Throttled calls whose errors have lost the headers: the log warns, once for each name.

use std::error::Error as StdError;

use retry_runtime::{Classify, ErrorForRetry, Policy, Verdict, on, retry};
use support::loopback::Server;

use crate::warnings::{listen, warned};

type BoxError = Box<dyn StdError + Send + Sync>;

const POLICY: Policy = Policy::none().max(1);

fn answering(status: &str) -> Server {
    let answer = "retry-after: 2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    Server::answering(format!("HTTP/1.1 {status}\r\n{answer}"))
}

fn warning(call: &str) -> String {
    format!(
        "throttled, and any Retry-After is lost with the headers: use \
         `.error_for_retry().await` of `retry_runtime::ErrorForRetry` instead of \
         `.error_for_status()` call={call}"
    )
}

/// Makes the call twice, and returns the warnings in the log.
macro_rules! twice {
    ($call:expr) => {{
        let (log, _guard) = listen();
        for _ in 0..2 {
            let _error = $call.await.unwrap_err();
        }
        warned(&log)
    }};
}

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use ::$reqwest as reqwest;
            use reqwest::{Client, Error};

            use super::*;

            #[derive(Debug, Classify, thiserror::Error)]
            enum FetchError {
                #[error(transparent)]
                #[classify(transparent)]
                Http(#[from] Error),
            }

            struct Api {
                client: Client,
                url: String,
            }

            impl Api {
                fn of(server: &Server) -> Self {
                    let client = Client::builder().no_proxy().build().unwrap();
                    let url = server.url();
                    Self { client, url }
                }

                async fn send(&self) -> Result<(), Error> {
                    let answer = self.client.get(&self.url).send().await?;
                    answer.error_for_status().map(drop)
                }

                #[retry(max = 1, backoff = "none", name = concat!(stringify!($reqwest), " plain"))]
                async fn plain(&self) -> Result<(), Error> {
                    self.send().await
                }

                #[retry(max = 1, backoff = "none", name = concat!(stringify!($reqwest), " boxed"))]
                async fn boxed(&self) -> Result<(), BoxError> {
                    Ok(self.send().await?)
                }

                #[retry(max = 1, backoff = "none", name = concat!(stringify!($reqwest), " anyhow"))]
                async fn in_context(&self) -> anyhow::Result<()> {
                    let sent = self.send().await;
                    sent.map_err(|error| anyhow::Error::from(error).context("no page"))
                }

                #[retry(max = 1, backoff = "none", name = concat!(stringify!($reqwest), " derived"))]
                async fn derived(&self) -> Result<(), FetchError> {
                    Ok(self.send().await?)
                }

                #[retry(
                    max = 1,
                    backoff = "none",
                    name = concat!(stringify!($reqwest), " on"),
                    on = on::http
                )]
                async fn by_on(&self) -> Result<(), BoxError> {
                    Ok(self.send().await?)
                }

                #[retry(max = 1, backoff = "none", name = concat!(stringify!($reqwest), " other"))]
                async fn other(&self) -> Result<(), Error> {
                    self.send().await
                }

                #[retry(max = 1, backoff = "none", hint = "ignore")]
                async fn for_retry(&self) -> Result<(), BoxError> {
                    let answer = self.client.get(&self.url).send().await?;
                    answer.error_for_retry().await?;
                    Ok(())
                }

                #[retry(
                    max = 1,
                    backoff = "none",
                    on = |error: &Error| error.classify().after(std::time::Duration::ZERO)
                )]
                async fn with_a_hint(&self) -> Result<(), Error> {
                    self.send().await
                }
            }

            #[tokio::test]
            async fn the_log_warns_once_for_each_name() {
                let server = answering("429 Too Many Requests");
                let api = Api::of(&server);
                let of = |name| [warning(&format!("{} {name}", stringify!($reqwest)))];
                assert_eq!(twice!(api.plain()), of("plain"));
                assert_eq!(twice!(api.boxed()), of("boxed"));
                assert_eq!(twice!(api.in_context()), of("anyhow"));
                assert_eq!(twice!(api.derived()), of("derived"));
                assert_eq!(twice!(api.by_on()), of("on"));
                let (name, by_on) = (
                    concat!(stringify!($reqwest), " chain"),
                    concat!(stringify!($reqwest), " chain on"),
                );
                let chain = async || POLICY.name(name).call(async || api.send().await).await;
                assert_eq!(twice!(chain()), of("chain"));
                let chain = POLICY.name(by_on).on(on::cause);
                let chain = async || chain.clone().call(async || api.send().await).await;
                assert_eq!(twice!(chain()), of("chain on"));
            }

            #[tokio::test]
            async fn no_warning_if_no_wait_can_be_lost() {
                let server = answering("429 Too Many Requests");
                let api = Api::of(&server);
                assert!(twice!(api.for_retry()).is_empty());
                assert!(twice!(api.with_a_hint()).is_empty());
                // Responses that aren't throttled.
                for status in ["503 Service Unavailable", "404 Not Found"] {
                    let server = answering(status);
                    assert!(twice!(Api::of(&server).other()).is_empty(), "{status}");
                }
                // An error that is classified outside of a call does not mark the next call's error.
                let error = api.send().await.unwrap_err();
                assert_eq!(error.classify(), Verdict::THROTTLED);
                let name = concat!(stringify!($reqwest), " own");
                let throttled = async || POLICY.name(name).on(|_: &()| Verdict::THROTTLED);
                let throttled = async || throttled().await.call(async || Err::<(), _>(())).await;
                assert!(twice!(throttled()).is_empty());
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);
