//! Traits of HTTP clients.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use retry_runtime::retry;

use crate::Attempts;

mod opentelemetry {
    use opentelemetry_http::{HttpClient as Original, HttpError};

    use super::*;

    #[retry(wrapper = RetryExport, of = Original, max = 3, backoff = "none", on = |_| true)]
    #[async_trait]
    trait HttpClient {
        async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError>;
    }

    #[derive(Debug)]
    struct Client(Attempts);

    #[async_trait]
    impl Original for Client {
        async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
            let response = Response::new(request.into_body());
            self.0.make(response, "refused".into())
        }
    }

    #[tokio::test]
    async fn an_export() {
        let client = RetryExport::new(Client(Attempts::default()));
        let request = Request::new(Bytes::from_static(b"spans"));
        let response = client.send_bytes(request).await.unwrap();
        assert_eq!(&response.body()[..], b"spans");
        assert_eq!(client.inner().0.made(), 3);
    }
}

mod names {
    use std::net::{Ipv4Addr, SocketAddr};

    use ureq::config::Config;
    use ureq::http::Uri;
    use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver as Original};
    use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

    use super::*;

    #[retry(wrapper = RetryNames, of = Original, max = 3, backoff = "none", on = |_| true)]
    trait Resolver {
        fn resolve(
            &self,
            uri: &Uri,
            config: &Config,
            timeout: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error>;

        fn empty(&self) -> ResolvedSocketAddrs;
    }

    #[derive(Debug)]
    struct Names(Attempts);

    impl Original for Names {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            self.0.make((), ureq::Error::HostNotFound)?;
            let mut addresses = self.empty();
            // No server listens there.
            addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)));
            Ok(addresses)
        }
    }

    #[test]
    fn a_name() {
        let attempts = Attempts::default();
        let names = RetryNames::new(Names(attempts.clone()));
        let connector = DefaultConnector::default();
        let agent = ureq::Agent::with_parts(Config::default(), connector, names);
        let error = agent.get("http://example.org").call().unwrap_err();
        assert!(!matches!(error, ureq::Error::HostNotFound), "{error}");
        assert_eq!(attempts.made(), 3);
    }
}
