use std::sync::{Arc, Mutex};

use redis::aio::ConnectionLike;
use redis::{Arg, Cmd, Value};
use tokio::time::Instant;

use crate::redis::fleets::InProcess;

/// A bucket in this process, whose time is tokio's. It begins full, as in Redis.
#[derive(Clone, Default)]
pub(super) struct Bucket(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    filled: Option<(Instant, f64)>,
    granted: f64,
    asked: Vec<f64>,
}

impl Bucket {
    pub(super) fn connection(&self) -> impl ConnectionLike + Send + 'static {
        let bucket = self.clone();
        InProcess(move |script: &Cmd| {
            // Behind the command, the script, and the two keys with their number.
            let arguments = script.args_iter().skip(5).map(|argument| match argument {
                Arg::Simple(number) => std::str::from_utf8(number).unwrap().parse().unwrap(),
                other => panic!("{other:?}"),
            });
            let granted = bucket.lease(&arguments.collect::<Vec<f64>>());
            Ok(Value::SimpleString(granted.to_string()))
        })
    }

    /// How many tokens were wanted each time.
    pub(super) fn asked(&self) -> Vec<f64> {
        self.0.lock().unwrap().asked.clone()
    }

    /// What a process was granted in all, after these arguments of the script.
    fn lease(&self, arguments: &[f64]) -> f64 {
        let &[capacity, rate, _earned, _alone, wanted, granted] = arguments else {
            panic!("{arguments:?}");
        };
        let (now, state) = (Instant::now(), &mut *self.0.lock().unwrap());
        let (at, before) = state.filled.unwrap_or((now, capacity));
        let tokens = (before + (now - at).as_secs_f64() * rate).min(capacity);
        let given = (wanted - granted).min(tokens.floor());
        state.asked.push(wanted - granted);
        state.filled = Some((now, tokens - given));
        state.granted += given;
        state.granted
    }
}
