//! Classification of `std::io::Error`.

use std::error::Error as StdError;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use retry_runtime::on;
use support::prelude::*;
use support::verdicts::BROKEN;

#[test]
fn every_kind_has_the_verdict_of_the_table() {
    use ErrorKind as K;

    for (expected, kinds) in rows! {
        Verdict::TRANSIENT, &[K::ConnectionRefused, K::Interrupted, K::AddrNotAvailable][..];
        BROKEN, &[K::ConnectionReset, K::ConnectionAborted, K::BrokenPipe, K::UnexpectedEof, K::HostUnreachable,
            K::NetworkUnreachable, K::NetworkDown];
        Verdict::TIMEOUT, &[K::TimedOut, K::WouldBlock];
        Verdict::STOP, &[K::AddrInUse, K::NotFound, K::PermissionDenied, K::AlreadyExists, K::InvalidInput,
            K::InvalidData, K::StorageFull, K::Unsupported, K::OutOfMemory, K::Other];
    } {
        for &kind in kinds {
            assert_eq!(kind.classify(), expected, "{kind:?}");
            assert_eq!(Error::from(kind).classify(), expected, "{kind:?}");
            assert_eq!(Error::new(kind, "text").classify(), expected, "{kind:?}");
        }
    }
}

#[test]
fn errors_of_the_operating_system_are_classified() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let refused = TcpStream::connect(address).unwrap_err();
    assert_eq!(refused.classify(), Verdict::TRANSIENT);

    let nameless = TcpStream::connect("no-such-host.invalid:1").unwrap_err();
    assert_eq!(nameless.classify(), Verdict::TRANSIENT, "{nameless:?}");

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    silent.set_read_timeout(Some(millis(10))).unwrap();
    let late = silent.read(&mut [0]).unwrap_err();
    assert_eq!(late.classify(), Verdict::TIMEOUT, "{late:?}");

    let missing = File::open("no such file").unwrap_err();
    assert_eq!(missing.classify(), Verdict::STOP);

    // No files left, of this process and of all; a folder in place of a file.
    #[cfg(unix)]
    for (code, expected) in [
        (24, Verdict::TRANSIENT),
        (23, Verdict::TRANSIENT),
        (21, Verdict::STOP),
    ] {
        let error = Error::from_raw_os_error(code);
        assert_eq!(error.classify(), expected, "{code}");
    }
}

#[test]
fn references_and_pointers_are_classified_as_what_they_hold() {
    fn verdict(error: impl Classify) -> Verdict {
        error.classify()
    }

    let refused = || Error::from(ErrorKind::ConnectionRefused);
    let error = refused();
    let plain: Box<dyn StdError> = refused().into();
    let send: Box<dyn StdError + Send> = Box::new(refused());
    let shared: Arc<dyn StdError + Send + Sync> = Arc::new(refused());
    for verdict in [
        on::cause(&plain),
        on::cause(&send),
        on::cause(&shared),
        verdict(&error),
        verdict(Box::new(&error)),
        verdict(Arc::new(error)),
        verdict(plain),
        verdict(send),
        verdict(shared),
    ] {
        assert_eq!(verdict, Verdict::TRANSIENT);
    }
}
