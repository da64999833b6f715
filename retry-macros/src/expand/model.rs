//! What to generate: every decision, and no printing.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use retry_vocabulary::word::{Backoff, Jitter};
use syn::{Expr, Pat, PatType, Type};

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, Arguments, KeyValue, Mode, find, keys};
use crate::target::function::{Asyncness, Function};
use crate::target::outcome::{self, Delivery, StreamPart};
use crate::tokens;

pub(crate) struct Model {
    pub(crate) function: Function,
    /// What the attribute says, where it needs no decision.
    pub(crate) arguments: Arguments,
    /// The type of an attempt's outcome, without `impl Trait`.
    pub(crate) outcome: Type,
    /// A type whose value is that of the outcome.
    pub(crate) valued: Type,
    /// A type whose error is that of the outcome.
    pub(crate) failing: Type,
    /// Where a complaint about the error type points.
    pub(crate) error_span: Span,
    pub(crate) delivery: Delivery,
    pub(crate) attempts: Callee,
    /// The arguments that each attempt owns a clone of.
    pub(crate) cloned: Vec<Ident>,
    /// The part of an argument that has to be `Copy`.
    pub(crate) moved_part: Option<TokenStream>,
    pub(crate) default_name: DefaultName,
    /// Where the function returns a stream and says what to do with it.
    pub(crate) stream: Option<Stream>,
    pub(crate) policy: Policy,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) decision: Decider,
    pub(crate) history: Option<History>,
}

/// Whether calls within an attempt know of this call.
pub(crate) const NESTED: bool = cfg!(feature = "nested");

/// What an attempt runs.
pub(crate) enum Callee {
    /// The user's code.
    Body,
    /// In a decorator, the client's method.
    Client(Option<Retained>),
}

/// What a decorator's future or stream needs once the method returned, where its type borrows nothing.
pub(crate) struct Retained {
    /// The decorator, as the method calls it.
    pub(crate) decorator: Ident,
    /// What the decorator's clone is called.
    pub(crate) this: Ident,
    /// The borrowed arguments, each to be kept by that function.
    pub(crate) arguments: Vec<(Ident, &'static str)>,
}

/// What a call is named where no key says it.
#[derive(PartialEq, Eq)]
pub(crate) enum DefaultName {
    /// The name of the function.
    Function,
    /// In a decorator, the names of the function and of the client of that type.
    Client(Ident),
    /// The name of the function that the block stands in.
    Surroundings,
}

/// What is done with the stream that a function returns.
#[cfg_attr(
    not(feature = "stream"),
    expect(dead_code, reason = "the key is only read, to be refused")
)]
pub(crate) struct Stream {
    pub(crate) mode: Mode,
    /// What it yields, without `impl Trait`.
    pub(crate) item: Type,
    /// The stream's type, where it is boxed.
    pub(crate) boxed: Option<Type>,
    pub(crate) part: StreamPart,
}

pub(crate) enum Policy {
    /// A policy of literals, with a literal name.
    Constant(Vec<Argument>),
    /// A policy of numbers that may be expressions.
    Numbers(Vec<Argument>),
    /// A policy known at run time, and whether this call retries at all.
    Expr(Expr, Option<Box<Argument>>),
    /// The policy that the decorator was made with, or else the trait's, overridden by the method's own numbers.
    Decorator {
        this: Ident,
        of_trait: Box<Policy>,
        own: Vec<Argument>,
        /// Whether there are retries, beside whichever policy it is.
        enabled: Option<Box<Argument>>,
    },
}

/// What a call keeps of earlier attempts, besides their number and its start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Errors,
    /// Errors, and the last value that validation rejected.
    Values,
    /// Errors, and the items that a stream yielded.
    Items,
}

/// What decides after a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decider {
    /// Only the count, the policy and the verdict; nothing needs to know why the call ends, and nothing needs the policy or
    /// the name before an attempt has ended.
    Simple,
    /// Only the count, the policy and the verdict; an attempt may need the policy or the name.
    Plain,
    Full,
}

/// Where to find the error that ends the call after a pause that took too long or was cancelled, or where nothing lets the
/// next attempt begin. In an async function with a deadline alone that keeps no errors, the error is gone by then, so that
/// it need not be `Send`, and one more attempt is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    FromHistory,
    /// A local, which a blocking function can afford, and one that can be cancelled or rejected needs.
    FromLocal,
}

/// When a call ends at the latest.
pub(crate) enum Deadline {
    Given(Box<Argument>),
    /// By the call's policy.
    OfPolicy,
    /// By the policy that each failure chooses.
    OfChoice,
    /// By the decorator's policy, or else the trait's.
    Decorator {
        this: Ident,
        of_trait: Option<Box<Deadline>>,
    },
}

/// The keys that a decision after a failure asks for, or that ask it why the call ends.
const FOR_THE_DECISION: [Key; 16] = keys![
    Abort BeforePause BeforeRetry Clone Deadline Hedge Idempotent Repeats Budget Breaker Limiter Cancel Observe GiveUp
    Fallback Validate
];

/// The keys whose functions see the attempt.
pub(crate) const SEE_ATTEMPT: [Key; 6] = keys![On Policy Validate Correct BeforePause BeforeRetry];

impl Model {
    pub(crate) fn new(arguments: Arguments, mut function: Function) -> Self {
        let cloned = arguments.value(Key::Clone);
        let cloned = as_variant!(cloned, Some(KeyValue::Names(names)) => names.clone());
        let cloned = cloned.unwrap_or_default();
        function.without_mut(&cloned);
        // The check refused functions without.
        let unit = outcome::unit(Span::call_site());
        let returned = function.return_type().unwrap_or(&unit);
        let (outcome, delivery) = outcome::of(returned);
        let mode = as_variant!(arguments.value(Key::Stream), Some(KeyValue::Stream(mode)) => *mode);
        let streamed = outcome::stream(outcome).zip(mode);
        let failing = streamed.as_ref();
        let failing = failing.map_or(outcome, |(streamed, _)| streamed.item);
        let error_span = outcome::error_span(failing);
        let failing = outcome::without_value(failing);
        let outcome = match &streamed {
            // Read to its end by the attempt, it may borrow what the function's stream can't.
            Some((streamed, Mode::Buffer | Mode::Resume)) => {
                outcome::with_shorter_stream(outcome, streamed.part)
            }
            _ => outcome.clone(),
        };
        let valued = outcome::without_error(&outcome);
        let outcome = outcome::erase_impl_trait(&outcome);
        let stream = streamed.map(|(streamed, mode)| Stream {
            mode,
            item: outcome::erase_impl_trait(streamed.item),
            boxed: streamed.boxed.map(outcome::erase_impl_trait),
            part: streamed.part,
        });
        let mut model = Self {
            outcome,
            valued,
            failing,
            error_span,
            delivery,
            attempts: Callee::Body,
            cloned,
            moved_part: function.moved_part(),
            default_name: DefaultName::Function,
            stream,
            policy: Policy::new(&arguments),
            deadline: match (arguments.get(Key::Deadline), arguments.get(Key::Policy)) {
                (Some(deadline), _) => Some(Deadline::Given(Box::new(deadline.clone()))),
                (None, Some(policy)) if policy.value.is_closure() => Some(Deadline::OfChoice),
                (None, Some(_)) => Some(Deadline::OfPolicy),
                (None, None) => None,
            },
            decision: Decider::Full,
            history: None,
            arguments,
            function,
        };
        model.history = model.history();
        model.decision = model.decider();
        model
    }

    /// What decides after a failure. A policy known at run time may ask for anything. Values that are rejected have a count of
    /// their own, and attempts that run at once numbers of their own. The retries of a resumed stream are counted anew, while
    /// its delays may go on growing.
    fn decider(&self) -> Decider {
        let is_plain = match &self.policy {
            Policy::Constant(numbers) => !numbers.iter().any(needs_everything),
            _ => false,
        };
        if !is_plain || self.restarts() || self.delays().is_some() || self.has(&FOR_THE_DECISION) {
            return Decider::Full;
        }
        if self.is_simple() {
            Decider::Simple
        } else {
            Decider::Plain
        }
    }

    /// Whether nothing needs the policy or the name before an attempt has ended.
    fn is_simple(&self) -> bool {
        let is_for_failures = |argument: &Argument| match argument.key {
            Key::On | Key::Name | Key::Crate => true,
            key => key.is_within_policy(),
        };
        self.stream.is_none() && !NESTED && self.arguments.given.iter().all(is_for_failures)
    }

    /// Whether an error of `validate` may say that it is final. A type that the compiler does not know yet would be taken to
    /// be `Classify`, which it need not be where `on` is named.
    pub(crate) fn asks_complaints(&self) -> bool {
        !(self.has(&[Key::On]) && outcome::is_inferred(&self.failing))
    }

    /// The model of a block in `retrying!`, as a function.
    pub(crate) fn of_block(arguments: Arguments, block: Function) -> Self {
        Self {
            default_name: DefaultName::Surroundings,
            ..Self::new(arguments, block)
        }
    }

    /// Whether nothing in the macro's input names the type of the error: the user's code says it, to the compiler.
    pub(crate) fn infers_error(&self) -> bool {
        self.default_name == DefaultName::Surroundings && outcome::is_inferred(&self.failing)
    }

    /// The model of a decorator's method. Its attribute is the trait's, overridden by its own. `this` is the decorator,
    /// which may have a policy.
    pub(crate) fn decorated(
        mut self,
        of_trait: &Arguments,
        own: &Arguments,
        this: Option<Ident>,
        client: Ident,
        attempts: Callee,
        cloned: Vec<Ident>,
    ) -> Self {
        self.attempts = attempts;
        self.cloned.extend(cloned);
        self.default_name = DefaultName::Client(client);
        // The name is that of the client.
        if let (Policy::Constant(numbers), None) = (&self.policy, self.arguments.get(Key::Name)) {
            self.policy = Policy::Numbers(numbers.clone());
        }
        // To know which attempt is the last one, because that takes the arguments themselves.
        self.decision = Decider::Full;
        if let (Some(this), None) = (this, own.get(Key::Policy)) {
            self.policy = Policy::Decorator {
                this: this.clone(),
                of_trait: Box::new(Policy::of_trait(of_trait)),
                own: beside_policy(numbers(own)),
                enabled: enabled(&self.arguments),
            };
            if own.get(Key::Deadline).is_none() {
                let of_trait = self.deadline.map(Box::new);
                self.deadline = Some(Deadline::Decorator { this, of_trait });
            }
        }
        self
    }

    /// Whether the last attempt takes the arguments themselves: not where attempts run at once, or where none is known to be
    /// the last.
    pub(crate) fn gives_away(&self) -> bool {
        !(self.cloned.is_empty() || self.is_hedged() || self.restarts() || self.chooses_policy())
    }

    /// The value of a key that takes an expression.
    pub(crate) fn expr(&self, key: Key) -> Option<&Expr> {
        as_variant!(self.arguments.value(key)?, KeyValue::Expr(expr) => expr)
    }

    /// The function that computes the delays, if there is one.
    pub(crate) fn delays(&self) -> Option<&Expr> {
        as_variant!(self.arguments.value(Key::Backoff)?, KeyValue::Delays(delays) => delays)
    }

    /// Whether each failure chooses the policy by its error, so that there is none before.
    pub(crate) fn chooses_policy(&self) -> bool {
        matches!(self.policy, Policy::Expr(Expr::Closure(_), _))
    }

    /// Whether the policy may have a timeout that the attribute does not name.
    pub(crate) fn ignores_timeout(&self) -> bool {
        self.policy.numbers().is_none() && !self.is_timed()
    }

    /// How much a call asks its policy before the first attempt.
    pub(crate) fn policy_uses_at_start(&self) -> usize {
        let asks = [
            self.shows_max(),
            self.gives_away(),
            self.ignores_timeout(),
            !matches!(self.deadline, None | Some(Deadline::Given(_))),
        ];
        let asks = asks.into_iter().filter(|asks| *asks);
        if self.chooses_policy() {
            0
        } else {
            asks.count()
        }
    }

    /// Whether a retry waits only if a server asks for that, as literals say.
    pub(crate) fn retries_at_once(&self) -> bool {
        let Policy::Constant(numbers) = &self.policy else {
            return false;
        };
        let is_none = |number: &Argument| matches!(number.value, KeyValue::Backoff(Backoff::None));
        find(numbers, Key::Backoff).is_some_and(is_none)
            && !numbers.iter().any(Argument::has_shape)
            && !self.has(&keys![Cancel Hedge IdleTimeout Limiter Timeout Timer])
    }

    /// How a call can still end after a pause: see [`Late`].
    pub(crate) fn late(&self, asyncness: Asyncness) -> Option<Late> {
        let is_kept = self.is_gated() || self.is_cancellable() || self.is_hooked();
        if self.deadline.is_none() && !is_kept {
            return None;
        }
        match (self.history, asyncness) {
            (Some(_), _) => Some(Late::FromHistory),
            (None, Asyncness::Blocking) => Some(Late::FromLocal),
            (None, Asyncness::Async) => is_kept.then_some(Late::FromLocal),
        }
    }

    /// Whether a stream goes on where it broke, so that an item is progress.
    pub(crate) fn resumes(&self) -> bool {
        matches!(&self.stream, Some(stream) if stream.mode == Mode::Resume)
    }

    /// Whether retries may be counted anew.
    pub(crate) fn restarts(&self) -> bool {
        self.resumes() || self.tells_progress()
    }

    /// Whether it matters that an attempt yielded an item before it failed: only where the failure may be one that can't be
    /// repeated. Under `"first"` such an attempt has succeeded.
    pub(crate) fn minds_items(&self) -> bool {
        let reads_on = matches!(&self.stream, Some(stream) if stream.mode != Mode::First);
        reads_on && self.has(&[Key::Idempotent])
    }

    /// Whether a value that `until` rejected is kept over the pause, to be returned where that is cut short or no attempt
    /// is let through after it.
    pub(crate) fn keeps_values(&self) -> bool {
        (self.is_gated() || self.is_cancellable()) && self.has(&[Key::Until])
    }

    /// Whether the expansion retries rejections: the attribute asks for it, or a policy that only the run knows may.
    pub(crate) fn retries_rejections(&self) -> bool {
        let may_say_so = matches!(self.policy, Policy::Decorator { .. });
        self.is_gated() && (may_say_so || self.has(&[Key::Rejected, Key::Policy]))
    }

    /// Whether the user's timer has a clock of its own. A closure only sleeps.
    pub(crate) fn names_clock(&self) -> bool {
        self.expr(Key::Timer)
            .is_some_and(|timer| !matches!(timer, Expr::Closure(_)))
    }

    /// Whether anything may ask the history for the time since the call began. If not, no clock is read.
    pub(crate) fn shows_time(&self) -> bool {
        let by_ending = |key| self.expr(key).is_some_and(ending_asks_time);
        self.sees_attempt(tokens::asks_time) || by_ending(Key::GiveUp) || by_ending(Key::Fallback)
    }

    /// Whether any code may say that the attempt made progress, so that retries are counted anew.
    pub(crate) fn tells_progress(&self) -> bool {
        self.sees_attempt(tokens::tells_progress)
    }

    /// Whether any code that has the attempt uses it so.
    fn sees_attempt(&self, uses: fn(TokenStream, &Ident) -> bool) -> bool {
        let Some(attempt) = self.attempt() else {
            return false;
        };
        let block = self.function.block();
        let by_body = block.is_some_and(|block| uses(block.stream(), attempt));
        let mut exprs = SEE_ATTEMPT.into_iter().filter_map(|key| self.expr(key));
        by_body || exprs.any(|expr| uses(expr.to_token_stream(), attempt))
    }

    /// What asks for spans, unless it says that there are none.
    pub(crate) fn span(&self) -> Option<&Argument> {
        let span = self.arguments.get(Key::Span)?;
        (!matches!(span.value, KeyValue::Bool(false))).then_some(span)
    }

    /// What the body calls its attempt.
    pub(crate) fn attempt(&self) -> Option<&Ident> {
        as_variant!(self.arguments.value(Key::Attempt)?, KeyValue::Name(attempt) => attempt)
    }

    /// Whether the runtime's driver keeps the call: where the decision after a failure needs more than the count, the policy
    /// and the verdict.
    pub(crate) fn is_driven(&self) -> bool {
        self.decision == Decider::Full
    }

    /// Whether any of the keys is given.
    pub(crate) fn has(&self, keys: &[Key]) -> bool {
        self.arguments.has(keys)
    }

    /// Whether the name of the function around a block is all that names the call.
    pub(crate) fn is_named_by_surroundings(&self) -> bool {
        self.default_name == DefaultName::Surroundings && !self.has(&[Key::Name])
    }

    fn history(&self) -> Option<History> {
        if self.resumes() {
            return Some(History::Items);
        }
        let is_shown = self.has(&[Key::Attempt, Key::Repeats, Key::GiveUp, Key::Fallback]);
        is_shown.then_some(match self.expr(Key::Validate) {
            Some(_) => History::Values,
            None => History::Errors,
        })
    }
}

/// Decisions that follow from a key being there.
macro_rules! decided_by {
    ($($(#[$doc:meta])* $decision:ident: $($key:ident)|+;)*) => {
        impl Model {
            $(
                $(#[$doc])*
                pub(crate) fn $decision(&self) -> bool {
                    self.has(&keys![$($key)+])
                }
            )*
        }
    };
}

decided_by! {
    /// Whether an attempt may take only so long.
    is_timed: Timeout;
    /// Whether an attempt is dropped that takes too long.
    may_drop: Timeout | IdleTimeout;
    /// Whether something may cancel the call.
    is_cancellable: Cancel;
    /// Whether retries are paid for.
    is_paid: Budget;
    /// Whether attempts may run beside a slow one.
    is_hedged: Hedge;
    /// Whether a value may be rejected with an error.
    is_validated: Validate;
    /// Whether rejected values are repaired.
    is_corrected: Correct;
    /// Whether a last resort follows the last failure.
    falls_back: Fallback;
    /// Whether the ending is told why the call ends.
    tells_reason: GiveUp | Fallback;
    /// Whether a policy's `max` is shown to somebody before any failure.
    shows_max: Attempt | Observe | Abort;
    /// Whether anything of the user's runs between two attempts.
    is_hooked: BeforePause | BeforeRetry;
    /// Whether something may let an attempt not begin.
    is_gated: Breaker | Limiter;
}

impl Policy {
    fn new(arguments: &Arguments) -> Self {
        if let Some(KeyValue::Expr(expr)) = arguments.value(Key::Policy) {
            return Self::Expr(expr.clone(), enabled(arguments));
        }
        Self::of_numbers(arguments, numbers(arguments))
    }

    /// The policy of a trait's attribute, which that of a decorator can take the place of.
    fn of_trait(arguments: &Arguments) -> Self {
        match arguments.value(Key::Policy) {
            Some(KeyValue::Expr(expr)) => Self::Expr(expr.clone(), None),
            _ => Self::of_numbers(arguments, beside_policy(numbers(arguments))),
        }
    }

    /// The numbers that it is made of, unless only the run knows it.
    pub(crate) fn numbers(&self) -> Option<&[Argument]> {
        as_variant!(self, Self::Constant(numbers) | Self::Numbers(numbers) => numbers)
    }

    fn of_numbers(arguments: &Arguments, numbers: Vec<Argument>) -> Self {
        let is_constant = numbers.iter().all(|argument| argument.value.is_literal())
            && arguments.value(Key::Name).is_none_or(KeyValue::is_literal);
        if is_constant {
            Self::Constant(numbers)
        } else {
            Self::Numbers(numbers)
        }
    }
}

/// Whether what shapes the end of a call may ask its `GaveUp` for the time.
fn ending_asks_time(ending: &Expr) -> bool {
    let Expr::Closure(closure) = ending else {
        return true;
    };
    let argument = match closure.inputs.first() {
        Some(Pat::Type(PatType { pat, .. })) => Some(&**pat),
        argument => argument,
    };
    match argument {
        Some(Pat::Ident(name)) => tokens::asks_time(closure.body.to_token_stream(), &name.ident),
        Some(Pat::Wild(_)) => false,
        _ => true,
    }
}

/// Whether delays, or how many there may be, depend on more than the number of retries.
fn needs_everything(number: &Argument) -> bool {
    match &number.value {
        KeyValue::Jitter(Jitter::Decorrelated) => true,
        _ if matches!(number.key, Key::TotalDelay | Key::Rejected) => true,
        KeyValue::Expr(_) => number.key == Key::Jitter,
        section => {
            let mut inner = section.section().iter();
            inner.any(|number| number.key == Key::Max || needs_everything(number))
        }
    }
}

/// The arguments that a policy is made of. Limits of time are reckoned beside the policy: a deadline at the call's start, a
/// timeout before each attempt.
fn numbers(arguments: &Arguments) -> Vec<Argument> {
    let mut numbers = arguments.given.clone();
    numbers.retain(|argument| {
        let is_time = matches!(argument.key, Key::Timeout | Key::Deadline);
        argument.key.is_of_policy() && !is_time && !matches!(argument.value, KeyValue::Delays(_))
    });
    numbers
}

/// The numbers that a policy known at run time takes the place of, or is the base of.
fn beside_policy(mut numbers: Vec<Argument>) -> Vec<Argument> {
    numbers.retain(|number| number.key.is_within_policy());
    numbers
}

fn enabled(arguments: &Arguments) -> Option<Box<Argument>> {
    arguments.get(Key::Enabled).cloned().map(Box::new)
}
