//! What follows a success.

use proc_macro2::TokenStream;

use crate::expand::model::Count;
use crate::expand::printer::Printer;
use crate::tokens::ours;

impl Printer<'_> {
    /// Reports a success to everyone who should know.
    pub(crate) fn report(&self) -> TokenStream {
        let told = self.succeeded();
        let Some(budget) = self.budget() else {
            return told;
        };
        let credit = self.credit(&ours!(retry_call));
        ours! {
            #told
            {
                #budget
                #credit
            }
        }
    }

    /// Tells the budget that is bound, where there is one, that a call counted so succeeded.
    pub(crate) fn credit(&self, counted: &TokenStream) -> Option<TokenStream> {
        let call = self.call();
        let is_bound = self.model.is_paid();
        is_bound.then(|| ours!(#call::credit(&#counted, &retry_budget);))
    }

    /// Reports the success to the log and the observer. The name is evaluated only if someone listens, the policy not at
    /// all.
    fn succeeded(&self) -> TokenStream {
        let (name, call) = (self.name(), self.succeeded_call());
        match self.observer() {
            Some(observer) => ours! {
                {
                    #observer
                    __retry::Call::report_success(#call, #name, &mut retry_observer);
                }
            },
            None if self.model.count == Count::Retries => {
                ours!(retry_call.healed(#(self.constant_site()));)
            }
            None => ours! {
                if __retry::Call::is_retried(#call) {
                    __retry::Call::healed(#call, #name, __retry::None);
                }
            },
        }
    }
}
