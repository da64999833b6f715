use std::collections::HashMap;
use std::future::Ready;

use redis::{Arg, ErrorKind, RedisResult, Value};
use support::prelude::*;

use crate::redis::fleets::InProcess;

/// A bucket in this process, with tokio's clock. It starts full, as in Redis. It doesn't handle outages.
#[derive(Clone, Default)]
pub(super) struct Bucket(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    filled: Option<(Instant, f64)>,
    /// The tokens that each process has earned and was granted.
    processes: HashMap<Vec<u8>, (f64, f64)>,
    asked: Vec<f64>,
}

impl Bucket {
    /// Returns a function that connects to it.
    pub(super) fn connect(&self) -> impl FnMut() -> Made + Send + 'static {
        let bucket = self.clone();
        move || {
            let bucket = bucket.clone();
            ready(Ok(InProcess(Box::new(move |script| {
                let words = script.args_iter().map(|argument| match argument {
                    Arg::Simple(word) => word,
                    other => panic!("{other:?}"),
                });
                let words: Vec<&[u8]> = words.collect();
                // The script itself is sent only if the server doesn't have it.
                assert_eq!(words[0], b"EVALSHA");
                // A server without authentication closes the connection after a command with more than ten parts.
                assert!(words.len() <= 10);
                // Behind the command, the script's sum, and the number of keys.
                let words = &words[3..];
                let numbers = std::str::from_utf8(words[2]).unwrap().split(' ');
                let arguments: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
                let granted = bucket.lease(words[1], &arguments);
                Ok(Value::SimpleString(granted.to_string()))
            }))))
        }
    }

    /// The number of tokens of each request.
    pub(super) fn asked(&self) -> Vec<f64> {
        self.0.lock().unwrap().asked.clone()
    }

    /// The number of tokens that its processes reported as returned.
    pub(super) fn earned(&self) -> f64 {
        let state = self.0.lock().unwrap();
        state.processes.values().map(|(earned, _)| earned).sum()
    }

    /// The number of processes that sent a request.
    pub(super) fn processes(&self) -> usize {
        self.0.lock().unwrap().processes.len()
    }

    /// Returns the total number of tokens granted to a process, after these arguments of the script.
    fn lease(&self, process: &[u8], arguments: &[f64]) -> f64 {
        let &[capacity, rate, earned, _, wanted, granted, together, ..] = arguments else {
            panic!("{arguments:?}");
        };
        let (now, state) = (Instant::now(), &mut *self.0.lock().unwrap());
        let known = state.processes.entry(process.to_owned());
        let (earned_before, granted_before) = known.or_default();
        assert!(*granted_before <= granted, "an answer was lost");
        let (at, before) = state.filled.unwrap_or((now, capacity));
        let tokens = before + (now - at).as_secs_f64() * rate + earned - *earned_before;
        let tokens = tokens.min(capacity);
        let given =
            if tokens >= 1.0 { (wanted - granted).min(tokens.floor().max(together)) } else { 0.0 };
        state.asked.push(wanted - granted);
        state.filled = Some((now, tokens - given));
        *earned_before = earned;
        *granted_before += given;
        *granted_before
    }
}

pub(super) type Made = Ready<RedisResult<InProcess>>;

/// Returns a function that makes connections that don't accept commands.
pub(super) fn nobody() -> impl FnMut() -> Made + Send + 'static {
    || ready(Ok(InProcess(Box::new(|_| Err((ErrorKind::Io, "refused").into())))))
}
