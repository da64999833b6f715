//! hyper-util, reqwest and tonic with an h2 server that resets streams. Requests that HTTP/2 marks as unprocessed (RFC
//! 9113, section 8.7) are sent again, even if they must not take effect twice.

use h2::Reason;
use http::Response;
use http_body_util::Empty;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::TokioExecutor;
use support::loopback::Server;
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use crate::tonic::service::send;

#[derive(Clone, Copy, Debug)]
enum Answer {
    /// `RST_STREAM` of the request with that reason.
    Reset(Reason),
    /// The same after the head of a response.
    ResetBody(Reason),
    /// `GOAWAY` with that reason that names an earlier stream as the last one.
    GoAwayBelow(Reason),
    /// `GOAWAY` that names the request as the last one, which then gets no response.
    GoAwayAfter,
}

async fn answer(stream: TcpStream, answer: Answer, requests: Arc<AtomicU32>) -> io::Result<()> {
    if let Answer::GoAwayBelow(reason) = answer {
        return go_away(stream, reason, requests).await;
    }
    let mut connection = h2::server::handshake(stream).await.map_err(io::Error::other)?;
    while let Some(request) = connection.accept().await {
        let (_, mut respond) = request.map_err(io::Error::other)?;
        requests.fetch_add(1, Ordering::Relaxed);
        match answer {
            Answer::Reset(reason) => respond.send_reset(reason),
            Answer::ResetBody(reason) => {
                let head = respond.send_response(Response::new(()), false);
                let mut body = head.map_err(io::Error::other)?;
                // Later, because a reset replaces a head that is not yet sent.
                tokio::spawn(async move { body.send_reset(reason) });
            }
            Answer::GoAwayBelow(_) | Answer::GoAwayAfter => {
                connection.abrupt_shutdown(Reason::NO_ERROR);
            }
        }
    }
    Ok(())
}

/// h2's server names no earlier stream than the last that it received.
async fn go_away(
    mut stream: TcpStream,
    reason: Reason,
    requests: Arc<AtomicU32>,
) -> io::Result<()> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GO_AWAY: &[u8] = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const HEADERS: u8 = 1;

    stream.write_all(SETTINGS).await?;
    stream.read_exact(&mut [0; PREFACE.len()]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, ..] = head;
        let mut frame = (&mut stream).take(u32::from_be_bytes([0, a, b, c]).into());
        tokio::io::copy(&mut frame, &mut tokio::io::sink()).await?;
        if kind == HEADERS {
            requests.fetch_add(1, Ordering::Relaxed);
            let reason = u32::from(reason).to_be_bytes();
            stream.write_all(&[GO_AWAY, &reason].concat()).await?;
        }
    }
}

fn server(how: Answer) -> (Server, Arc<AtomicU32>) {
    let requests = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&requests);
    let server = Server::start(move |stream| answer(stream, how, Arc::clone(&count)));
    (server, requests)
}

async fn by_hyper(url: &str) -> Result<(), Verdict> {
    #[retry(max = 2, backoff = "none", idempotent = false)]
    async fn post(url: &str) -> Result<(), ClientError> {
        let client: Client<_, Empty<&'static [u8]>> = Client::builder(TokioExecutor::new())
            .http2_only(true)
            .retry_canceled_requests(false)
            .build_http();
        client.get(url.parse().unwrap()).await.map(drop)
    }

    post(url).await.map_err(|error| error.classify())
}

async fn by_reqwest(url: &str) -> Result<(), Verdict> {
    #[retry(max = 2, backoff = "none", idempotent = false)]
    async fn post(url: &str) -> Result<(), ::reqwest_0_13::Error> {
        let client = ::reqwest_0_13::Client::builder()
            .no_proxy()
            .http2_prior_knowledge()
            .retry(::reqwest_0_13::retry::never());
        client.build()?.post(url).send().await.map(drop)
    }

    post(url).await.map_err(|error| error.classify())
}

async fn by_tonic(url: &str) -> Result<(), Verdict> {
    #[retry(max = 2, backoff = "none", idempotent = false)]
    async fn call(channel: &Channel) -> Result<(), Status> {
        send(channel, None).await
    }

    let channel = Endpoint::new(url.to_owned()).unwrap().connect_lazy();
    call(&channel).await.map_err(|error| error.classify())
}

#[tokio::test]
async fn unprocessed_requests_are_sent_again() {
    let calm_down = Verdict::THROTTLED.ambiguous();
    for (how, expected, times) in [
        (Answer::Reset(Reason::REFUSED_STREAM), Verdict::TRANSIENT, 3),
        (Answer::GoAwayBelow(Reason::NO_ERROR), Verdict::TRANSIENT, 3),
        (Answer::GoAwayAfter, BROKEN, 1),
        (Answer::Reset(Reason::INTERNAL_ERROR), BROKEN, 1),
        (Answer::Reset(Reason::ENHANCE_YOUR_CALM), calm_down, 1),
        (Answer::GoAwayBelow(Reason::ENHANCE_YOUR_CALM), calm_down, 1),
    ] {
        let seen = |requests: Arc<AtomicU32>| requests.load(Ordering::Relaxed);
        let (server, requests) = server(how);
        let hyper = (by_hyper(&server.url()).await, seen(requests));
        let (server, requests) = self::server(how);
        let reqwest = (by_reqwest(&server.url()).await, seen(requests));
        let (server, requests) = self::server(how);
        let tonic = (by_tonic(&server.url()).await, seen(requests));
        let expected = (Err(expected), times);
        assert_eq!([hyper, reqwest, tonic], [expected; 3], "{how:?}");
    }
}

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use ::$reqwest as reqwest;

            use super::*;

            fn builder() -> reqwest::ClientBuilder {
                reqwest::Client::builder().no_proxy().http2_prior_knowledge()
            }

            #[retry(max = 2, backoff = "none")]
            async fn get(client: &reqwest::Client, url: &str) -> reqwest::Result<()> {
                client.get(url).send().await.map(drop)
            }

            #[tokio::test]
            async fn the_default_client_multiplies_requests() {
                let one_each = builder().retry(reqwest::retry::never());
                for (builder, times) in [(one_each, 3), (builder(), 9)] {
                    let (server, requests) = server(Answer::Reset(Reason::REFUSED_STREAM));
                    let client = builder.build().unwrap();
                    let error = get(&client, &server.url()).await.unwrap_err();
                    assert_eq!(error.classify(), Verdict::TRANSIENT);
                    assert_eq!(requests.load(Ordering::Relaxed), times);
                }
            }

            #[tokio::test]
            async fn a_stream_that_the_server_resets_is_ambiguous() {
                let client = builder().build().unwrap();
                let (server, _) = server(Answer::Reset(Reason::INTERNAL_ERROR));
                let error = get(&client, &server.url()).await.unwrap_err();
                assert_eq!(error.classify(), BROKEN, "{error:?}");

                let (server, _) = super::server(Answer::ResetBody(Reason::INTERNAL_ERROR));
                let answer = client.get(server.url()).send().await.unwrap();
                let error = answer.bytes().await.unwrap_err();
                assert_eq!(error.classify(), BROKEN, "{error:?}");
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);
