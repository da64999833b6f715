use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::Unrepeatable;
use crate::BoxError;
use crate::http::extend_hint;

/// A recording of a body, made while the body is sent, so that the body can be sent again.
///
/// A retry doesn't wait until the whole body has been sent: it replays the recorded part, and then reads the rest. Once
/// the `Recording` is dropped, recording stops. Use it to implement [`RepeatBody`](super::RepeatBody).
pub struct Recording<B>(Arc<Mutex<Tape<B>>>);

/// A body that is recorded while it is sent, or that replays the recording.
pub struct Recorded<B> {
    tape: Arc<Mutex<Tape<B>>>,
    /// The number of this replay. 0 for the first time that the body is sent.
    take: u64,
    /// The number of parts sent so far.
    at: usize,
}

struct Tape<B> {
    body: B,
    parts: Vec<Part>,
    length: usize,
    most: usize,
    state: State,
    /// The number of the latest replay, the only one that may read the rest of the body.
    take: u64,
    /// Wakes a replay that waits for the rest.
    waker: Option<Waker>,
}

#[derive(Clone)]
enum Part {
    Data(Bytes),
    Trailers(HeaderMap),
}

impl Part {
    fn length(&self) -> usize {
        match self {
            Self::Data(data) => data.len(),
            Self::Trailers(_) => 0,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unfinished,
    Whole,
    Gone(Unrepeatable),
}

impl<B> Recording<B> {
    /// Starts to record the body, up to `most` bytes. Returns the body to send, and the recording.
    pub fn start(body: B, most: usize) -> (Recorded<B>, Self) {
        let tape = Arc::new(Mutex::new(Tape {
            body,
            parts: Vec::new(),
            length: 0,
            most,
            state: State::Unfinished,
            take: 0,
            waker: None,
        }));
        let recorded = Recorded {
            tape: Arc::clone(&tape),
            take: 0,
            at: 0,
        };
        (recorded, Self(tape))
    }

    /// Returns an error if the body can't be sent again.
    pub fn repeatable(&self) -> Result<(), Unrepeatable> {
        lock(&self.0).repeatable()
    }

    /// Returns the body from its start. If the previous replay has not sent the whole body, the previous replay fails.
    pub fn again(&self) -> Result<Recorded<B>, Unrepeatable> {
        // Both steps are under one lock. Otherwise, the previous replay could read more between the steps, and the body
        // could become too long, or fail.
        let mut tape = lock(&self.0);
        tape.repeatable()?;
        tape.take += 1;
        let (take, waker) = (tape.take, tape.waker.take());
        // Unlock before the wake, because an executor may poll inside it and take the lock again.
        drop(tape);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(Recorded {
            tape: Arc::clone(&self.0),
            take,
            at: 0,
        })
    }
}

impl<B: Body> Recording<B> {
    /// Returns true if the body was read to its end.
    pub fn is_read(&self) -> bool {
        let tape = lock(&self.0);
        tape.state == State::Whole || tape.body.is_end_stream()
    }
}

/// Stops the recording. The recorded part is still replayed.
impl<B> Drop for Recording<B> {
    fn drop(&mut self) {
        let mut tape = lock(&self.0);
        if tape.state == State::Unfinished {
            tape.state = State::Gone(Unrepeatable::Consumed);
        }
    }
}

impl<B> Tape<B> {
    fn repeatable(&self) -> Result<(), Unrepeatable> {
        match self.state {
            State::Unfinished | State::Whole => Ok(()),
            State::Gone(why) => Err(why),
        }
    }

    fn record(&mut self, part: Part) {
        if self.state != State::Unfinished {
            return;
        }
        self.length = self.length.saturating_add(part.length());
        if self.length > self.most {
            self.stop_recording(Unrepeatable::TooLong(self.most));
        } else {
            self.parts.push(part);
        }
    }

    fn stop_recording(&mut self, why: Unrepeatable) {
        self.state = State::Gone(why);
        drop(mem::take(&mut self.parts));
    }
}

impl<B> Body for Recorded<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let tape = &mut *lock(&this.tape);
        if let Some(part) = tape.parts.get(this.at) {
            this.at += 1;
            return Poll::Ready(Some(Ok(match part.clone() {
                Part::Data(data) => Frame::data(data),
                Part::Trailers(trailers) => Frame::trailers(trailers),
            })));
        }
        if tape.state == State::Whole {
            return Poll::Ready(None);
        }
        if this.take != tape.take {
            return Poll::Ready(Some(Err("the request is sent again".into())));
        }
        let polled = Pin::new(&mut tape.body).poll_frame(context);
        if polled.is_pending() {
            tape.waker = Some(context.waker().clone());
        }
        let frame = match ready!(polled) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => {
                tape.stop_recording(Unrepeatable::Broken);
                return Poll::Ready(Some(Err(error.into())));
            }
            None => {
                if tape.state == State::Unfinished {
                    tape.state = State::Whole;
                }
                return Poll::Ready(None);
            }
        };
        if let Some(data) = frame.data_ref() {
            tape.record(Part::Data(data.clone()));
        } else if let Some(trailers) = frame.trailers_ref() {
            tape.record(Part::Trailers(trailers.clone()));
        }
        this.at = tape.parts.len();
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        let tape = lock(&self.tape);
        if tape.state == State::Whole {
            return self.at >= tape.parts.len();
        }
        // An earlier replay can't determine whether it has sent everything.
        self.take == tape.take && self.at >= tape.parts.len() && tape.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let tape = lock(&self.tape);
        let left = tape.parts.iter().skip(self.at).map(Part::length);
        let left = left.sum::<usize>() as u64;
        if tape.state == State::Whole {
            return SizeHint::with_exact(left);
        }
        extend_hint(left, &tape.body.size_hint())
    }
}

fn lock<B>(tape: &Mutex<Tape<B>>) -> MutexGuard<'_, Tape<B>> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

opaque!(Recording<B>, Recorded<B>);
