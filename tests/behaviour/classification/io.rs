//! Classification of `std::io::Error`.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use support::prelude::*;
use support::verdicts::BROKEN;

const TABLE: &[(ErrorKind, Verdict)] = &[
    (ErrorKind::ConnectionRefused, Verdict::TRANSIENT),
    (ErrorKind::Interrupted, Verdict::TRANSIENT),
    (ErrorKind::AddrNotAvailable, Verdict::TRANSIENT),
    (ErrorKind::AddrInUse, Verdict::STOP),
    (ErrorKind::ConnectionReset, BROKEN),
    (ErrorKind::ConnectionAborted, BROKEN),
    (ErrorKind::BrokenPipe, BROKEN),
    (ErrorKind::UnexpectedEof, BROKEN),
    (ErrorKind::HostUnreachable, BROKEN),
    (ErrorKind::NetworkUnreachable, BROKEN),
    (ErrorKind::NetworkDown, BROKEN),
    (ErrorKind::TimedOut, Verdict::TIMEOUT),
    (ErrorKind::WouldBlock, Verdict::TIMEOUT),
    (ErrorKind::NotFound, Verdict::STOP),
    (ErrorKind::PermissionDenied, Verdict::STOP),
    (ErrorKind::AlreadyExists, Verdict::STOP),
    (ErrorKind::InvalidInput, Verdict::STOP),
    (ErrorKind::InvalidData, Verdict::STOP),
    (ErrorKind::StorageFull, Verdict::STOP),
    (ErrorKind::Unsupported, Verdict::STOP),
    (ErrorKind::OutOfMemory, Verdict::STOP),
    (ErrorKind::Other, Verdict::STOP),
];

#[test]
fn every_kind_has_the_verdict_of_the_table() {
    for &(kind, expected) in TABLE {
        assert_eq!(kind.classify(), expected, "{kind:?}");
        assert_eq!(Error::from(kind).classify(), expected, "{kind:?}");
        assert_eq!(Error::new(kind, "text").classify(), expected, "{kind:?}");
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
fn a_read_timeout_of_a_blocking_socket_is_a_timeout() {
    #[retry(max = 2, backoff = "none")]
    fn read(stream: &mut TcpStream, attempts: &mut u32) -> io::Result<usize> {
        *attempts += 1;
        stream.read(&mut [0])
    }

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let limit = Some(Duration::from_millis(10));
    stream.set_read_timeout(limit).unwrap();
    let mut attempts = 0;
    let error = read(&mut stream, &mut attempts).unwrap_err();
    assert_eq!(error.classify(), Verdict::TIMEOUT, "{error:?}");
    assert_eq!(attempts, 3);
}

#[test]
fn references_and_pointers_are_classified_as_what_they_hold() {
    fn verdict(error: impl Classify) -> Verdict {
        error.classify()
    }
    let error = Error::from(ErrorKind::ConnectionRefused);
    assert_eq!(verdict(&error), Verdict::TRANSIENT);
    assert_eq!(verdict(Box::new(&error)), Verdict::TRANSIENT);
    assert_eq!(verdict(Arc::new(error)), Verdict::TRANSIENT);
}
