//! `reqwest`'s built-in retries, and the setting that turns them off: each request at the server is one of our
//! attempts.

use support::loopback::Server;
use support::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const REFUSED_STREAM: u8 = 7;

/// Turns away every request of a connection unread (RFC 9113, section 8.7).
async fn refuse(mut stream: TcpStream, requests: Arc<AtomicU32>) -> io::Result<()> {
    stream.write_all(SETTINGS).await?;
    stream.read_exact(&mut [0; PREFACE.len()]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, _, id @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let mut frame = (&mut stream).take(length.into());
        tokio::io::copy(&mut frame, &mut tokio::io::sink()).await?;
        if kind == HEADERS {
            requests.fetch_add(1, Ordering::Relaxed);
            stream.write_all(&[0, 0, 4, RST_STREAM, 0]).await?;
            stream.write_all(&id).await?;
            stream.write_all(&[0, 0, 0, REFUSED_STREAM]).await?;
        }
    }
}

fn refusing() -> (Server, Arc<AtomicU32>) {
    let requests = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&requests);
    let server = Server::start(move |stream| refuse(stream, Arc::clone(&count)));
    (server, requests)
}

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use ::$reqwest as reqwest;

            use super::*;

            #[retry(max = 2, backoff = "none")]
            async fn get(client: &reqwest::Client, url: &str) -> reqwest::Result<()> {
                client.get(url).send().await.map(drop)
            }

            fn builder() -> reqwest::ClientBuilder {
                reqwest::Client::builder().no_proxy().http2_prior_knowledge()
            }

            #[tokio::test]
            async fn without_its_own_retries_requests_are_attempts() {
                let (server, requests) = refusing();
                let client = builder().retry(reqwest::retry::never()).build().unwrap();
                let error = get(&client, &server.url()).await.unwrap_err();
                assert_eq!(error.classify(), Verdict::TRANSIENT);
                assert_eq!(requests.load(Ordering::Relaxed), 3);
            }

            /// The effect that the setting prevents.
            #[tokio::test]
            async fn the_default_client_multiplies_requests() {
                let (server, requests) = refusing();
                let client = builder().build().unwrap();
                get(&client, &server.url()).await.unwrap_err();
                assert_eq!(requests.load(Ordering::Relaxed), 9);
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);
