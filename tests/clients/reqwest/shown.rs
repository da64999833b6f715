//! Errors of both major versions of `reqwest` in the log. Their text contains the URL.

use support::loopback::{Server, closed_port, status};
use support::prelude::*;

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use ::$reqwest as reqwest;

            use super::*;

            async fn get(address: &str) -> reqwest::Result<()> {
                let url = format!("http://user:pw@{address}/v1/models?key=AIza#AIza");
                let client = reqwest::Client::builder().no_proxy().build()?;
                client.get(url).send().await?.error_for_status().map(drop)
            }

            #[retry(max = 0, name = "call", on = |_| true)]
            async fn call(address: &str) -> reqwest::Result<()> {
                get(address).await
            }

            #[retry(max = 0, name = "call", on = |_| true)]
            async fn boxed(address: &str) -> Result<(), Box<dyn Error>> {
                Ok(get(address).await?)
            }

            #[retry(max = 0, name = "call", on = |_| true)]
            async fn with_context(address: &str) -> anyhow::Result<()> {
                anyhow::Context::context(get(address).await, "listing models")
            }

            #[tokio::test]
            async fn causes_are_shown_and_secrets_are_not() {
                let recording = testing::record();
                let closed = closed_port().to_string();
                call(&closed).await.unwrap_err();
                boxed(&closed).await.unwrap_err();
                with_context(&closed).await.unwrap_err();
                let url = format!("(http://{closed}/v1/models)");
                for line in recording.lines() {
                    assert!(line.contains(&url), "{line}");
                    assert!(line.contains("refused"), "{line}");
                    assert!(!line.contains("AIza") && !line.contains("pw"), "{line}");
                }
                let recording = testing::record();
                let server = Server::answering(status("503 Service Unavailable"));
                let address = server.url();
                let address = address.trim_start_matches("http://").trim_end_matches('/');
                call(address).await.unwrap_err();
                let line = recording.lines().remove(0);
                assert!(
                    line.contains("503") && line.contains(&format!("http://{address}/v1")),
                    "{line}"
                );
                assert!(!line.contains("AIza") && !line.contains("pw"), "{line}");
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);
