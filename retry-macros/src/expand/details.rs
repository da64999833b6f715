//! What a decision is told of a failure, or of a slow attempt, beyond its verdict.

use retry_vocabulary::key::Key;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// The details of a failure, or of an attempt that is slow, beyond its verdict, as far as keys need them.
    pub(crate) fn details(&self) -> Code {
        let idempotent = self.model.arguments.get(Key::Idempotent);
        ours! {
            #?(self.model.is_cancellable()) { .cancelled(retry_cancelled) }
            #(idempotent.map(|idempotent| ours!(.idempotent(#(self.argument(idempotent))))))
        }
    }

    /// The details of a rejected attempt. It took no effect, so idempotency is left out.
    pub(crate) fn details_of_rejection(&self) -> Code {
        ours! {
            #?(self.model.is_cancellable()) { .cancelled(retry_cancelled) }
            #?(self.model.delays().is_some()) { .delays(&mut retry_delays) }
        }
    }

    /// The details of a failure that only the decision after it needs, beside those of [`Self::details`].
    pub(crate) fn options(&self, failed: FailureSource) -> Code {
        let model = self.model;
        let has_error = failed.has_error();
        let is_corrected = failed == FailureSource::Validation && model.is_corrected();
        let repeated = self.repeated().filter(|_| has_error);
        // The last attempt took the arguments, even if the limit has grown since. A correction needs none.
        let is_last_known = model.gives_away() && !is_corrected;
        let is_forgotten = match failed {
            FailureSource::Until => !model.keeps_values(),
            FailureSource::Validation if model.is_corrected() => false,
            _ => model.late(self.asyncness).is_none(),
        };
        let validates = model.is_validated() && !is_corrected;
        ours! {
            #(self.details())
            #?(model.is_hedged()) { .pushback(&mut retry_pushback) }
            #(repeated.map(|repeated| ours!(.repeated(#repeated))))
            #?(is_last_known) { .last(retry_last) }
            #?(model.delays().is_some()) { .delays(&mut retry_delays) }
            #?(is_corrected) { .correctable() }
            #?(validates) { .validates() }
            #?(model.falls_back() && has_error) { .falls_back() }
            #?(is_forgotten) { .forgotten() }
        }
    }

    /// Whether `retry_error` came too often in a row, where the attribute asks for that.
    pub(crate) fn repeated(&self) -> Option<Code> {
        let model = self.model;
        let repeats = self.kept(model.expr(Key::Repeats)?);
        let same = ours_at! {model.error_span=>
            (&&&__retry::Same(retry_one)).__retry_same(retry_other)
        };
        Some(ours! {
            __retry::is_repeated(&mut retry_history, &retry_error, #repeats, |retry_one, retry_other| #same)
        })
    }
}
