//! The decisions that determine what code is generated. Emits nothing itself.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use retry_vocabulary::word::Jitter;
use syn::{Expr, Pat, PatType, Type};

use crate::as_variant::as_variant;
use crate::attribute::argument::{ATTEMPT_KEYS, Argument, Arguments, KeyValue, Mode, find, keys};
use crate::target::function::Function;
use crate::target::outcome::{self, Delivery, StreamPart};
use crate::tokens;

pub(crate) struct Model {
    pub(crate) function: Function,
    /// The arguments of the attribute.
    pub(crate) arguments: Arguments,
    /// The type of an attempt's outcome, without `impl Trait`.
    pub(crate) outcome: Type,
    /// A `Result` type with the same `Ok` type as `outcome`.
    pub(crate) ok_type: Type,
    /// A `Result` type with the same `Err` type as `outcome`.
    pub(crate) err_type: Type,
    /// Span for diagnostics about the error type.
    pub(crate) error_span: Span,
    pub(crate) delivery: Delivery,
    pub(crate) callee: Callee,
    /// The arguments that are cloned for each attempt.
    pub(crate) cloned: Vec<Ident>,
    /// A part of an argument that must be `Copy`.
    pub(crate) moved_part: Option<TokenStream>,
    pub(crate) default_name: DefaultName,
    /// True for a block in `retrying!`.
    pub(crate) is_block: bool,
    /// Set if the function returns a stream and has the key `stream`.
    pub(crate) stream: Option<Stream>,
    pub(crate) policy: Policy,
    pub(crate) deadline: Option<Deadline>,
    /// The source of the time limit at which a running attempt is dropped.
    pub(crate) total: Option<Deadline>,
    /// True if the call needs the runtime's driver, because the decision after a failure depends on more than the
    /// count, the policy and the verdict.
    pub(crate) is_driven: bool,
    pub(crate) history: Option<History>,
}

/// True if nested calls can detect this call.
pub(crate) const NESTED: bool = cfg!(feature = "nested");

/// The code that an attempt runs.
pub(crate) enum Callee {
    /// The user's code.
    Body,
    /// In a decorator, the client's method.
    Client(Option<Retained>),
}

/// Values that a decorator's `'static` future or stream still needs after the method has returned.
pub(crate) struct Retained {
    /// The name of the decorator in the method.
    pub(crate) decorator: Ident,
    /// The name of the decorator's clone.
    pub(crate) this: Ident,
    /// Code that keeps the borrowed arguments.
    pub(crate) arguments: TokenStream,
}

/// The call's name, if there is no key `name`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum DefaultName {
    /// The name of the function and, in an `impl` with `#[retry]`, of its type.
    Function(Option<Ident>),
    /// In a decorator, the name of the function and the type of the client.
    Client(Ident),
    /// At run time, the path of the function that contains the block, or of the method.
    EnclosingPath,
}

/// The retry mode of a returned stream, and the stream's types.
#[cfg_attr(
    not(feature = "stream"),
    expect(dead_code, reason = "the key is only parsed to reject it")
)]
pub(crate) struct Stream {
    pub(crate) mode: Mode,
    /// The item type, without `impl Trait`.
    pub(crate) item: Type,
    /// The stream's type, if it is boxed.
    pub(crate) boxed: Option<Type>,
    pub(crate) part: StreamPart,
}

pub(crate) enum Policy {
    /// A policy that consists of literals, with a literal name.
    Constant(Vec<Argument>),
    /// A policy whose settings may be expressions.
    Settings(Vec<Argument>),
    /// A policy known at run time.
    Expr(Expr),
    /// The policy passed to the decorator, or else the trait's, overridden by the method's own settings.
    Decorator {
        this: Ident,
        of_trait: Box<Policy>,
        own: Vec<Argument>,
    },
}

/// The data that a call keeps about earlier attempts, besides their number and the call's start time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Errors,
    /// Errors, and the last value that validation rejected.
    Values,
    /// Errors, and the items that a stream yielded.
    Items,
}

/// The source of a call's deadline, or of its total timeout.
pub(crate) enum Deadline {
    Given,
    /// The call's policy.
    Policy,
    /// The policy chosen for each failure.
    Chosen,
    /// The policy passed to the decorator of this name, or else the trait's deadline.
    Decorator(Ident),
}

/// Keys that influence the decision after a failure, or that need the reason for giving up.
const DECISION_KEYS: [Key; 17] = keys![
    Abort BeforePause BeforeRetry Clone Deadline TotalTimeout Hedge Idempotent Repeats Budget Breaker Limiter Cancel Observe GiveUp
    Fallback Validate
];

impl Model {
    pub(crate) fn new(arguments: Arguments, mut function: Function) -> Self {
        let cloned = arguments.value(Key::Clone);
        let cloned = as_variant!(cloned, Some(KeyValue::Names(names)) => names.clone());
        let cloned = cloned.unwrap_or_default();
        function.without_mut(&cloned);
        // The check has rejected functions without a return type.
        let unit = outcome::unit_type(Span::call_site());
        let returned = function.return_type().unwrap_or(&unit);
        let (outcome, delivery) = outcome::split(returned);
        let mode = as_variant!(arguments.value(Key::Stream), Some(KeyValue::Stream(mode)) => *mode);
        let streamed = outcome::stream(outcome).zip(mode);
        let err_type = streamed.as_ref();
        let err_type = err_type.map_or(outcome, |(streamed, _)| streamed.item);
        let error_span = outcome::error_span(err_type);
        let err_type = outcome::without_value(err_type);
        let outcome = match &streamed {
            // The attempt reads this stream to its end, so it may borrow more than the function's stream.
            Some((streamed, Mode::Buffer | Mode::Resume)) => {
                outcome::with_inferred_stream(outcome, streamed.part)
            }
            _ => outcome.clone(),
        };
        let ok_type = outcome::without_error(&outcome);
        let outcome = outcome::erase_impl_trait(&outcome);
        let stream = streamed.map(|(streamed, mode)| Stream {
            mode,
            item: outcome::erase_impl_trait(streamed.item),
            boxed: (!outcome::is_opaque(streamed.stream))
                .then(|| outcome::erase_impl_trait(streamed.stream)),
            part: streamed.part,
        });
        let mut model = Self {
            outcome,
            ok_type,
            err_type,
            error_span,
            delivery,
            callee: Callee::Body,
            cloned,
            moved_part: function.moved_part(),
            default_name: if function.is_method() {
                DefaultName::EnclosingPath
            } else {
                DefaultName::Function(None)
            },
            is_block: false,
            stream,
            policy: Policy::new(&arguments),
            deadline: Deadline::from_key(&arguments, Key::Deadline),
            // A resumed stream may go on for longer than any single attempt.
            total: Deadline::from_key(&arguments, Key::TotalTimeout).filter(|total| match total {
                Deadline::Chosen => false,
                _ => mode != Some(Mode::Resume) && arguments.has(&keys![Timeout TotalTimeout]),
            }),
            is_driven: true,
            history: None,
            arguments,
            function,
        };
        model.history = model.history();
        model.is_driven = model.needs_driver();
        model
    }

    /// True if the call needs a driver. A run-time policy may contain any setting. Rejected values are counted
    /// separately, and so are hedged attempts. A resumed stream resets its retry count while its delays may keep
    /// growing.
    fn needs_driver(&self) -> bool {
        let is_plain = match &self.policy {
            Policy::Constant(settings) => !settings.iter().any(needs_full_state),
            _ => false,
        };
        !is_plain || self.restarts() || self.delays().is_some() || self.has(&DECISION_KEYS)
    }

    /// True if the policy and the name are only needed after an attempt.
    pub(crate) fn binds_site(&self) -> bool {
        let is_for_failures = |argument: &Argument| match argument.key {
            Key::On | Key::Name | Key::Crate => true,
            key => key.is_within_policy(),
        };
        let is_simple = self.arguments.given.iter().all(is_for_failures);
        is_simple && !self.is_driven && self.stream.is_none() && !NESTED
    }

    /// The model of a block in `retrying!`, which is treated as a function.
    pub(crate) fn for_block(arguments: Arguments, block: Function) -> Self {
        Self {
            default_name: DefaultName::EnclosingPath,
            is_block: true,
            ..Self::new(arguments, block)
        }
    }

    /// True if the compiler must infer the error type.
    pub(crate) fn infers_error(&self) -> bool {
        self.is_block && outcome::is_inferred(&self.err_type)
    }

    /// True if the call may end with another error type than its attempts.
    pub(crate) fn converts_error(&self) -> bool {
        self.is_block && self.has(&[Key::GiveUp])
    }

    /// The model of a decorator's method. The trait's attribute is overridden by the method's own. `this` is the
    /// decorator, which may contain a policy.
    pub(crate) fn for_decorator(
        mut self,
        of_trait: &Arguments,
        own: &Arguments,
        this: Option<Ident>,
        client: Ident,
        callee: Callee,
        cloned: Vec<Ident>,
    ) -> Self {
        self.callee = callee;
        self.cloned.extend(cloned);
        self.default_name = DefaultName::Client(client);
        // The name contains the client's type, so it isn't constant.
        if let (Policy::Constant(settings), None) = (&self.policy, self.arguments.get(Key::Name)) {
            self.policy = Policy::Settings(settings.clone());
        }
        // Only the driver can detect the last attempt, which takes the arguments without cloning them.
        self.is_driven = true;
        if let (Some(this), None) = (this, own.get(Key::Policy)) {
            self.policy = Policy::Decorator {
                this: this.clone(),
                of_trait: Box::new(Policy::of_trait(&of_trait.defaults_for(own))),
                own: policy_settings(settings(own)),
            };
            if own.get(Key::TotalTimeout).is_none() && self.attempt_timeout().is_some() {
                self.total = Some(Deadline::Decorator(this.clone()));
            }
            if own.get(Key::Deadline).is_none() {
                self.deadline = Some(Deadline::Decorator(this));
            }
        }
        self
    }

    /// True if the last attempt takes the arguments without cloning them. False if attempts run at once, or if it is
    /// unknown which attempt is the last.
    pub(crate) fn moves_arguments(&self) -> bool {
        !(self.cloned.is_empty()
            || self.has(&[Key::Hedge])
            || self.restarts()
            || self.chooses_policy())
    }

    /// True for a field, and for a name that may be an argument or another local variable.
    pub(crate) fn may_be_variable(&self, expr: &Expr) -> bool {
        let name = as_variant!(expr, Expr::Path(path) => path.path.get_ident()).flatten();
        let is_local = self.default_name == DefaultName::EnclosingPath;
        let is_variable = |name| is_local || self.function.is_reference(name).is_some();
        matches!(expr, Expr::Field(_)) || name.is_some_and(is_variable)
    }

    /// The expression given for a key.
    pub(crate) fn expr(&self, key: Key) -> Option<&Expr> {
        as_variant!(self.arguments.value(key)?, KeyValue::Expr(expr) => expr)
    }

    /// The function that computes the delays, if any.
    pub(crate) fn delays(&self) -> Option<&Expr> {
        as_variant!(self.arguments.value(Key::Backoff)?, KeyValue::Delays(delays) => delays)
    }

    /// True if the policy is chosen by the error, so that there is none before a failure.
    pub(crate) fn chooses_policy(&self) -> bool {
        matches!(self.policy, Policy::Expr(Expr::Closure(_)))
    }

    /// True if a run-time policy may have a timeout that this call doesn't enforce.
    pub(crate) fn ignores_timeout(&self) -> bool {
        self.policy.settings().is_none() && !self.has(&[Key::Timeout])
    }

    /// The number of times that a call reads its policy before the first attempt.
    pub(crate) fn policy_uses_at_start(&self) -> usize {
        let asks = [
            self.needs_max(),
            self.moves_arguments(),
            self.ignores_timeout(),
            !matches!(self.deadline, None | Some(Deadline::Given)),
            !matches!(self.total, None | Some(Deadline::Given)),
        ];
        let count = asks.into_iter().filter(|asks| *asks).count();
        if self.chooses_policy() { 0 } else { count }
    }

    /// True if the literals show that a retry only waits when a server asks for it.
    pub(crate) fn retries_at_once(&self) -> bool {
        let Policy::Constant(settings) = &self.policy else {
            return false;
        };
        let backoff = find(settings, Key::Backoff);
        backoff.is_some_and(|backoff| backoff.value.is_no_backoff())
            && !settings.iter().any(Argument::has_backoff)
            && !self.has(&keys![Cancel Hedge IdleTimeout Limiter Timeout Timer TotalTimeout])
    }

    /// True if the call can end between attempts: because its deadline has passed, it was cancelled, or the next
    /// attempt is rejected. Then the last error is kept, in the history or else in a local variable. An async function
    /// that only has a deadline keeps no error, so that the error need not be `Send`; it makes one more attempt
    /// instead.
    pub(crate) fn may_stop(&self, is_async: bool) -> bool {
        let is_kept = self.can_be_rejected() || self.has(&[Key::Cancel]) || self.has_hooks();
        let is_kept_anyway = self.history.is_some() || !is_async;
        is_kept || (self.deadline.is_some() || self.total.is_some()) && is_kept_anyway
    }

    /// True if a stream is resumed where it broke off, so that each item is progress.
    pub(crate) fn resumes(&self) -> bool {
        matches!(&self.stream, Some(stream) if stream.mode == Mode::Resume)
    }

    /// True if the retry count may be reset.
    pub(crate) fn restarts(&self) -> bool {
        self.resumes() || self.reports_progress()
    }

    /// True if yielding an item before failing makes the failure ambiguous. With `"first"`, such an attempt has
    /// succeeded.
    pub(crate) fn yielding_is_ambiguous(&self) -> bool {
        let reads_on = matches!(&self.stream, Some(stream) if stream.mode != Mode::First);
        reads_on && self.has(&[Key::Idempotent])
    }

    /// True if a value that `until` rejected is kept during the pause, to be returned if the call is cancelled or the
    /// next attempt is rejected.
    pub(crate) fn keeps_values(&self) -> bool {
        (self.can_be_rejected() || self.has(&[Key::Cancel])) && self.has(&[Key::Until])
    }

    /// True if rejections may be retried, because of the attribute or a run-time policy.
    pub(crate) fn retries_rejections(&self) -> bool {
        let may_allow_it = matches!(self.policy, Policy::Decorator { .. });
        self.can_be_rejected() && (may_allow_it || self.has(&[Key::Rejected, Key::Policy]))
    }

    /// True if the user's timer has its own clock. A closure only sleeps.
    pub(crate) fn names_clock(&self) -> bool {
        self.expr(Key::Timer)
            .is_some_and(|timer| !matches!(timer, Expr::Closure(_)))
    }

    /// True if any code may read the time since the call started. Otherwise, no clock is read.
    pub(crate) fn shows_time(&self) -> bool {
        let by_ending = |key| self.expr(key).is_some_and(ending_asks_time);
        self.any_code(tokens::asks_time) || by_ending(Key::GiveUp) || by_ending(Key::Fallback)
    }

    /// True if any code may report progress, which resets the retry count.
    pub(crate) fn reports_progress(&self) -> bool {
        self.any_code(tokens::reports_progress)
    }

    /// True if `uses` returns true for any code that can use the attempt.
    fn any_code(&self, uses: fn(TokenStream, &Ident) -> bool) -> bool {
        let Some(attempt) = self.attempt() else {
            return false;
        };
        let block = self.function.block();
        let by_body = block.is_some_and(|block| uses(block.stream(), attempt));
        let mut exprs = ATTEMPT_KEYS.into_iter().filter_map(|key| self.expr(key));
        by_body || exprs.any(|expr| uses(expr.to_token_stream(), attempt))
    }

    /// The span of the first of these keys that is set. If the future is not `Send` because of an error that the key
    /// keeps, the compiler points at this span.
    pub(crate) fn span_of(&self, keys: &[Key]) -> Span {
        let key = self.arguments.first(keys);
        key.map_or(self.error_span, |key| key.ident.span())
    }

    /// The key `span`, unless it is `false`.
    pub(crate) fn span(&self) -> Option<&Argument> {
        let span = self.arguments.get(Key::Span);
        span.filter(|_| !self.arguments.is_off(Key::Span))
    }

    /// The name of the attempt in the body.
    pub(crate) fn attempt(&self) -> Option<&Ident> {
        as_variant!(self.arguments.value(Key::Attempt)?, KeyValue::Name(attempt) => attempt)
    }

    /// True if any of the keys is set.
    pub(crate) fn has(&self, keys: &[Key]) -> bool {
        self.arguments.has(keys)
    }

    /// True if an attempt is dropped when it takes too long.
    pub(crate) fn can_drop_attempts(&self) -> bool {
        self.has(&keys![Timeout TotalTimeout IdleTimeout])
    }

    /// The key that limits the time of an attempt.
    pub(crate) fn attempt_timeout(&self) -> Option<&Argument> {
        self.arguments.first(&keys![Timeout TotalTimeout])
    }

    /// True if the reason for giving up is needed.
    pub(crate) fn needs_reason(&self) -> bool {
        self.has(&keys![GiveUp Fallback])
    }

    /// True if the policy's `max` is needed before the first failure.
    pub(crate) fn needs_max(&self) -> bool {
        self.has(&keys![Attempt Observe Abort])
    }

    /// True if a hook runs between two attempts.
    pub(crate) fn has_hooks(&self) -> bool {
        self.has(&keys![BeforePause BeforeRetry])
    }

    /// True if a breaker or limiter can reject an attempt.
    pub(crate) fn can_be_rejected(&self) -> bool {
        self.has(&keys![Breaker Limiter])
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

impl Deadline {
    /// The source of the time limit that this key sets.
    fn from_key(arguments: &Arguments, key: Key) -> Option<Self> {
        match arguments.value(Key::Policy) {
            _ if arguments.has(&[key]) => Some(Self::Given),
            Some(policy) if policy.is_closure() => Some(Self::Chosen),
            policy => policy.map(|_| Self::Policy),
        }
    }
}

impl Policy {
    fn new(arguments: &Arguments) -> Self {
        if let Some(KeyValue::Expr(expr)) = arguments.value(Key::Policy) {
            return Self::Expr(expr.clone());
        }
        Self::from_settings(arguments, settings(arguments))
    }

    /// The policy of a trait's attribute, which `with_policy` can replace.
    fn of_trait(arguments: &Arguments) -> Self {
        match arguments.value(Key::Policy) {
            Some(KeyValue::Expr(expr)) => Self::Expr(expr.clone()),
            _ => Self::from_settings(arguments, policy_settings(settings(arguments))),
        }
    }

    /// The settings of the policy. `None` for a run-time policy.
    pub(crate) fn settings(&self) -> Option<&[Argument]> {
        as_variant!(self, Self::Constant(settings) | Self::Settings(settings) => settings)
    }

    fn from_settings(arguments: &Arguments, settings: Vec<Argument>) -> Self {
        let is_constant = settings.iter().all(|argument| argument.value.is_literal())
            && arguments.value(Key::Name).is_none_or(KeyValue::is_literal);
        if is_constant {
            Self::Constant(settings)
        } else {
            Self::Settings(settings)
        }
    }
}

/// True if a `give_up` or `fallback` function may read the time from its `GaveUp`.
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

/// True if the delays or their number depend on more than the retry count.
fn needs_full_state(number: &Argument) -> bool {
    match &number.value {
        KeyValue::Jitter(Jitter::Decorrelated) => true,
        _ if matches!(number.key, Key::TotalDelay | Key::Rejected) => true,
        KeyValue::Expr(_) => number.key == Key::Jitter,
        section => {
            let mut inner = section.section().iter();
            inner.any(|number| number.key == Key::Max || needs_full_state(number))
        }
    }
}

/// The arguments that make up a policy. Deadlines and timeouts are handled separately: the deadline is computed when
/// the call starts, the timeout before each attempt.
fn settings(arguments: &Arguments) -> Vec<Argument> {
    let mut settings = arguments.given.clone();
    settings.retain(|argument| {
        let is_time = keys![Timeout Deadline TotalTimeout].contains(&argument.key);
        argument.key.is_of_policy() && !is_time && !matches!(argument.value, KeyValue::Delays(_))
    });
    settings
}

/// The settings that a run-time policy replaces or provides defaults for.
fn policy_settings(mut settings: Vec<Argument>) -> Vec<Argument> {
    settings.retain(|number| number.key.is_within_policy());
    settings
}
