//! The loop around the attempts. It decides only where the parts go.

use syn::spanned::Spanned;

use crate::expand::model::History;
use crate::expand::printer::Printer;
use crate::target::outcome;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// The loop around the code that binds `retry_outcome`.
    pub(crate) fn call_loop(&self, attempt: Code) -> Code {
        if self.model.is_driven() {
            return self.driven_loop(attempt);
        }
        let history = self.model.history.map(|history| self.history(history));
        let outcome_type = self.error_type_of(&ours!(retry_outcome));
        let retried = ours! {
            #(self.expected_timer())
            #(self.bound_timer())
            let mut retry_call = __retry::Retries::new();
            #(self.error_type())
            #history
            #(self.error_type_of_history())
            'retry_call: loop {
                #(self.error_type_of_loop())
                // Ends the error's life before the pause, so that it need not be `Send`.
                let retry_pause = 'retry_pause: {
                    #?(self.model.history.is_some()) {
                        __retry::Attempt::begin(&mut retry_history, __retry::Call::max_retries(#(self.whole_call())));
                    }
                    #attempt
                    #outcome_type
                    #(self.bound_site())
                    #(self.judged())
                    #(self.leave())
                };
                #(self.sleep())
                #(self.tick())
            }
        };
        ours! {
            #(self.name_of_surroundings())
            #(self.constants())
            #(self.in_call_span(retried))
        }
    }

    /// Ends the loop with `retry_outcome`, located at the type that the function returns: what the compiler says of a borrow
    /// in it then points there. If that type is not a `Result`, it finds the same error here as where the attempt is checked,
    /// at the same place, and reports it once.
    pub(crate) fn leave(&self) -> Code {
        let span = self.model.outcome.span();
        self.leave_with(ours_at!(span=> retry_outcome))
    }

    /// Ends the loop with that outcome.
    pub(crate) fn leave_with(&self, outcome: Code) -> Code {
        let returned = &self.model.outcome;
        if self.model.stream.is_some() || outcome::is_result(returned) {
            return ours!(break 'retry_call #outcome;);
        }
        let returned = ours_at!(returned.span()=> __retry::from_result::<#returned, _, _>);
        ours!(break 'retry_call #returned(#outcome);)
    }

    pub(crate) fn history(&self, history: History) -> Code {
        let error = self.error();
        let clock = self.clock();
        let history = match (history, &self.model.stream) {
            (History::Items, Some(stream)) => {
                ours!(__retry::stream::resume::history::<#(&stream.item)>(#clock))
            }
            (History::Values, _) => {
                let draft = ours!(__retry::Draft::<#(self.value())>::none());
                ours!(__retry::Attempt::<#error, _>::before_first(#clock, #draft))
            }
            _ => ours!(__retry::Attempt::<#error, _>::before_first(#clock, ())),
        };
        // Of an error that is not `Send`, the compiler says that this can't be kept over the pause.
        let declared = ours_at!(self.model.error_span=> let mut retry_history);
        ours!(#declared = #history;)
    }
}
