//! The loop around the attempts. It decides only where the parts go.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::model::{Count, Deadline, History, Policy};
use crate::expand::printer::Printer;
use crate::target::outcome;
use crate::tokens::{Code, if_else, ours, ours_at, when};

impl Printer<'_> {
    /// The loop around the code that binds `retry_outcome`.
    pub(crate) fn call_loop(&self, attempt: Code) -> Code {
        let history = self.model.history.map(|history| self.history(history));
        let outcome_type = self.error_type_of(&ours!(retry_outcome));
        let gated = self.gated(ours! {
            #(self.failed_drop())
            #(self.begin())
            #attempt
            #outcome_type
            #(self.bound_site())
            #(self.judged())
            #(self.leave())
        });
        let unspent = ours!(retry_unspent = __retry::Some(retry_paid););
        let spent = ours!(__retry::Paid::spend(retry_paid););
        let spend = if_else(self.model.is_gated(), unspent, spent);
        let hooks = [Key::BeforePause, Key::BeforeRetry].map(|key| self.hook(key));
        let pause = self.pause(hooks, self.late_attempt(), &spend);
        let looped = self.abortable(ours! {
            'retry_call: loop {
                #(self.error_type_of_loop())
                #(self.timer_declaration())
                // Ends the error's life before the pause, so that it need not be `Send`.
                let retry_pause = 'retry_pause: {
                    #gated
                };
                #(self.under_way(false))
                #pause
            }
        });
        let retried = ours! {
            #(self.own_budget())
            #(self.expected_timer())
            #(self.start())
            #(self.error_type())
            #history
            #(self.error_type_of_history())
            #(self.failed_declaration())
            #(self.gate_declaration())
            #(self.pushback())
            #(self.waker())
            #(self.owned_slots())
            #looped
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
        let returned = &self.model.outcome;
        let span = returned.span();
        let outcome = ours_at!(span=> retry_outcome);
        if self.model.stream.is_some() || outcome::is_result(returned) {
            return ours!(break 'retry_call #outcome;);
        }
        let returned = ours_at!(span=> __retry::from_result::<#returned, _, _>);
        ours!(break 'retry_call #returned(#outcome);)
    }

    /// Binds what the call keeps: its count, and where asked for its deadline and whether its attempt is the last. A policy
    /// that is an expression is evaluated once for all of them.
    fn start(&self) -> Code {
        let needs_policy = self.model.starts_with_policy();
        let declared = Code::new();
        if !needs_policy || matches!(self.model.policy, Policy::Constant(_)) {
            for (mutable, name, value) in self.started(&when(needs_policy, self.policy())) {
                declared.add(ours!(let #mutable #name = #value;));
            }
            return declared;
        }
        let bound = self.with_policy(&mut |policy| {
            let bound = self.ignored_timeout(&policy).unwrap_or_default();
            for (mutable, name, value) in self.started(&policy) {
                declared.add(ours!(let #mutable #name;));
                bound.add(ours!(#name = #value;));
            }
            bound
        });
        ours!(#declared #bound)
    }

    /// The variables that a call keeps from its start: `mut` if it changes, the name, and the value under that policy.
    fn started(&self, policy: &Code) -> Vec<(Code, Code, Code)> {
        let call = self.call();
        let resumed = when(self.model.resumes(), ours!(mut));
        let max = match self.model.count {
            // No limit is known before the first failure.
            _ if self.model.chooses_policy() => Some(ours!(::core::primitive::u32::MAX)),
            Count::LimitedRetries | Count::Everything if self.model.shows_max() => {
                Some(ours!(__retry::max(#policy)))
            }
            _ => None,
        };
        let max = max.map(|max| ours!(.with_max(#max)));
        let mut started = vec![(ours!(mut), ours!(retry_call), ours!(#call::new()#max))];
        if self.model.is_observed() {
            let stopwatch = ours!(__retry::Stopwatch::new());
            started.push((ours!(mut), ours!(retry_stopwatch), stopwatch));
        }
        if let Some(Deadline::OfChoice) = &self.model.deadline {
            let now = ours!(__retry::moment(#(self.now_at_start())));
            started.push((resumed.clone(), ours!(retry_began), now));
            started.push((ours!(mut), ours!(retry_deadline), ours!(__retry::None)));
        } else if let Some(deadline) = &self.model.deadline {
            let deadline = self.deadline(deadline, policy);
            started.push((resumed.clone(), ours!(retry_deadline), deadline));
        }
        if let Some(last) = self.is_last(&ours!(retry_call), policy) {
            started.push((ours!(mut), ours!(retry_last), last));
        }
        started
    }

    fn history(&self, history: History) -> Code {
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

    /// Tells of the attempt that begins.
    fn begin(&self) -> Code {
        let observed = self.observer().map(|observer| {
            ours! {
                {
                    #observer
                    __retry::Call::started(#(self.whole_call()), #(self.name()), &mut retry_observer);
                }
            }
        });
        ours! {
            #(self.under_way(true))
            #?(self.model.history.is_some()) {
                __retry::Attempt::begin(&mut retry_history, __retry::Call::limit(#(self.whole_call())));
            }
            #observed
        }
    }
}
