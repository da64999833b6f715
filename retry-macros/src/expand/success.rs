//! What follows a success.

use proc_macro2::TokenStream;

use crate::expand::printer::Printer;
use crate::tokens::ours;

impl Printer<'_> {
    /// Reports a success to everyone who should know.
    pub(crate) fn report(&self) -> TokenStream {
        let told = self.succeeded();
        let Some(budget) = self.budget() else {
            return told;
        };
        let call = self.call();
        ours! {
            #told
            {
                #budget
                #call::credit(&retry_call, &retry_budget);
            }
        }
    }

    /// Reports the success to the log and the observer.
    fn succeeded(&self) -> TokenStream {
        let observer = self.observer();
        if self.is_told_by_site() {
            return match observer {
                None => ours!(retry_call.healed(__RETRY_SITE);),
                Some(_) => ours! {
                    {
                        #observer
                        retry_call.succeeded(__RETRY_SITE, &mut retry_observer);
                    }
                },
            };
        }
        // The name is evaluated only if someone listens, the policy not at all.
        let (name, call) = (self.name(), self.whole_call());
        match observer {
            None => ours! {
                if __retry::Call::is_retried(#call) {
                    __retry::healed(#call, #name);
                }
            },
            Some(_) => ours! {
                {
                    #observer
                    __retry::succeeded(#call, #name, &mut retry_observer);
                }
            },
        }
    }
}
