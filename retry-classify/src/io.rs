use core::fmt;
use std::io;

use crate::by_cause::by_cause;
use crate::{Classify, Verdict, sources};

/// Transient: a refused connection, an unknown host, an interrupted call, a shortage of file descriptors, ports or
/// buffers on this machine. Transient and ambiguous: a broken connection (reset, aborted, broken pipe, unexpected end),
/// and an unreachable host or network, because that can also end an open connection. [`Verdict::TIMEOUT`]: a timeout,
/// including a blocking socket's (`WouldBlock`). An error of any other kind that wraps another error, as
/// [`io::Error::other`] does, is classified by its first source of a known type. All others stop.
impl Classify for io::Error {
    fn classify(&self) -> Verdict {
        let by_kind = self.kind().classify();
        match self.get_ref() {
            _ if by_kind.is_retryable() => by_kind,
            _ if is_lookup_failure(self) || is_local_shortage(self) => Verdict::TRANSIENT,
            Some(wrapped) if sources::is_wrapper(self) => by_cause(wrapped, Verdict::UNKNOWN),
            // The kind alone means stop, so a source of unknown type causes no warning.
            Some(wrapped) => by_cause(wrapped, Verdict::STOP),
            None => by_kind,
        }
    }

    describe_with_causes!();
}

/// Returns true if a DNS lookup failed. `std` has no stable kind for this error. On Unix, it has the text below.
fn is_lookup_failure(error: &io::Error) -> bool {
    const TEXT: &str = "failed to lookup address information";
    error.raw_os_error().is_none() && error.to_string().starts_with(TEXT)
}

/// Returns true if this machine ran out of file descriptors or buffers for a connection, so nothing was sent. `std` has
/// no kind for this error.
fn is_local_shortage(error: &io::Error) -> bool {
    /// `EMFILE`, `ENFILE` and `ENOBUFS`, or their Windows equivalents.
    const SHORTAGES: &[i32] = if cfg!(windows) {
        &[4, 10_024, 10_055]
    } else if cfg!(any(target_os = "linux", target_os = "android")) {
        &[24, 23, 105]
    } else {
        &[24, 23, 55]
    };
    let code = error.raw_os_error();
    code.is_some_and(|code| SHORTAGES.contains(&code))
}

impl Classify for io::ErrorKind {
    fn classify(&self) -> Verdict {
        match self {
            Self::ConnectionRefused | Self::Interrupted | Self::AddrNotAvailable => {
                Verdict::TRANSIENT
            }
            Self::ConnectionReset
            | Self::ConnectionAborted
            | Self::BrokenPipe
            | Self::UnexpectedEof
            | Self::HostUnreachable
            | Self::NetworkUnreachable
            | Self::NetworkDown => Verdict::TRANSIENT.ambiguous(),
            Self::TimedOut | Self::WouldBlock => Verdict::TIMEOUT,
            _ => Verdict::STOP,
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
