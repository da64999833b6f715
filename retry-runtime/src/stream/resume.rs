//! `stream = "resume"`: after an error, the body runs again, and can read the number of items yielded so far, the last
//! item, and the position.
//!
//! An attempt starts as in `"first"`. Then its items are passed on until its stream fails or ends.

use core::pin::Pin;

use futures_core::Stream;

use super::first::Started;
use super::{Slot, Stopped, StreamItem};
use crate::history::attempt::{Attempt, Retained};
use crate::sync::{Mutex, lock};
use crate::time::{Clock, Moment, Timer};

/// The progress of a call with `stream = "resume"` in all earlier attempts: see [`Attempt`].
#[derive(Debug)]
pub struct Items<T> {
    yielded: usize,
    last: Option<T>,
    position: Mutex<u64>,
}

impl<T> Retained for Items<T> {
    type Value = ();
}

/// The progress of a stream with `stream = "resume"` before this attempt.
impl<E, T> Attempt<E, Items<T>> {
    /// The total number of items that the call's earlier attempts yielded.
    pub fn yielded(&self) -> usize {
        self.kept().yielded
    }

    /// A clone of the last item yielded.
    pub fn last_item(&self) -> Option<&T> {
        self.kept().last.as_ref()
    }

    /// The call's position, in a unit of your choice: the sum of all values passed to [`advance`](Self::advance),
    /// including those of this attempt. Starts at 0.
    pub fn position(&self) -> u64 {
        *lock(&self.kept().position)
    }

    /// Advances the position. Call this method for each item in the body's stream, for example with the number of bytes
    /// in a chunk. Saturates at `u64::MAX`.
    ///
    /// ```
    /// use futures::stream::{self, Stream, StreamExt, TryStreamExt};
    /// use retry_runtime::retry;
    ///
    /// # struct Files;
    /// # impl Files {
    /// #     fn range_from(&self, first: u64) -> impl Stream<Item = std::io::Result<Vec<u8>>> + use<> {
    /// #         let all = b"hello".to_vec();
    /// #         let rest = all[usize::try_from(first).unwrap()..].to_vec();
    /// #         let cut = (first == 0).then(|| Err(std::io::ErrorKind::UnexpectedEof.into()));
    /// #         let rest = if first == 0 { vec![rest[..3].to_vec()] } else { vec![rest] };
    /// #         stream::iter(rest.into_iter().map(Ok).chain(cut))
    /// #     }
    /// #
    /// /// Requests the part after the bytes already yielded.
    /// #[retry(stream = "resume", attempt = attempt, max = 5, backoff = "none")]
    /// fn download(&self) -> impl Stream<Item = std::io::Result<Vec<u8>>> {
    ///     self.range_from(attempt.position())
    ///         .inspect_ok(|chunk| attempt.advance(chunk.len() as u64))
    /// }
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// #     let chunks: Vec<_> = Files.download().map(Result::unwrap).collect().await;
    /// #     assert_eq!(chunks.concat(), b"hello");
    /// # }
    /// ```
    pub fn advance(&self, by: u64) {
        let mut position = lock(&self.kept().position);
        *position = position.saturating_add(by);
    }
}

/// An item that `attempt.last_item()` can return.
#[diagnostic::on_unimplemented(
    message = "`stream = \"resume\"` keeps the last item for `attempt.last_item()`, but `{Self}` is not `Clone`",
    label = "not `Clone`",
    note = "put `#[derive(Clone)]` on `{Self}`, or yield it in an `Arc`"
)]
pub trait KeptItem {
    fn keep(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> KeptItem for T {
    fn keep(&self) -> Self {
        self.clone()
    }
}

/// The number of items that one attempt has yielded, the last of them, and the attempt's start. Stored separately from
/// the history, because the body may borrow the history while its stream lives.
#[derive(Debug)]
pub struct Yielded<T> {
    began: Moment,
    items: usize,
    last: Option<T>,
    // A function pointer, so that an error about the bound appears only once, in `progress`.
    keep: fn(&T) -> T,
}

/// The progress of an attempt that starts now.
pub fn progress<I: StreamItem<Value: KeptItem>>(now: impl FnOnce() -> Moment) -> Yielded<I::Value> {
    Yielded {
        began: now(),
        items: 0,
        last: None,
        keep: I::Value::keep,
    }
}

pub fn history<I: StreamItem>(clock: Clock) -> Attempt<I::Error, Items<I::Value>> {
    let none = Items {
        yielded: 0,
        last: None,
        position: Mutex::new(0),
    };
    Attempt::before_first(clock, none)
}

/// The start of the attempt, and true if it yielded an item.
pub fn streamed<T>(progress: &Yielded<T>) -> (Moment, bool) {
    (progress.began, progress.items != 0)
}

pub fn keep<T, E>(attempt: &mut Attempt<E, Items<T>>, progress: Yielded<T>) {
    if progress.items == 0 {
        return;
    }
    let items = attempt.kept_mut();
    items.yielded = items.yielded.saturating_add(progress.items);
    items.last = progress.last;
}

/// Passes on the items of an attempt.
pub async fn pass_on<S: Stream<Item = Result<T, E>> + Unpin, T, E, W: Timer>(
    mut started: Started<S, T, E, W>,
    giver: &Slot<T, E>,
    progress: &mut Yielded<T>,
) -> Result<(), Stopped<E>> {
    let mut next = started.items.pop();
    while let Some(item) = next {
        progress.items = progress.items.saturating_add(1);
        progress.last = Some((progress.keep)(&item));
        giver.put(Ok(item)).await;
        next = started.patience.item(Pin::new(&mut started.stream)).await?;
    }
    Ok(())
}

// Generated code calls a function with this name and these arguments in every mode.
#[expect(clippy::unused_async, reason = "awaited as the other modes' are")]
pub async fn finish<T, E>(_: Slot<T, E>, outcome: Result<(), E>) -> Result<(), E> {
    outcome
}
