pub(crate) mod backoff;
pub(crate) mod error;
mod fault;
pub(crate) mod hint;
pub(crate) mod jitter;
pub(crate) mod overrides;
pub(crate) mod pauses;
pub(crate) mod schedule;
pub(crate) mod section;
#[cfg(feature = "serde")]
pub(crate) mod serde;
pub(crate) mod settings;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod values;

pub use backoff::Backoff;
pub use error::PolicyError;
pub(crate) use error::{policy_error, short, with_entry_name};
pub use hint::Hint;
pub use jitter::Jitter;
pub use overrides::{BreakerSettings, LimiterSettings, Overrides};
pub use pauses::Pauses;
pub use section::Section;
pub(crate) use settings::{PolicySettings, SECTIONS, Settings, row};
pub(crate) use value::{Entries, KeyValue, RawValue, keys_text};
pub(crate) use values::Values;

use core::fmt;
use core::time::Duration;

use crate::policy::schedule::{Schedule, or_default};
use crate::policy::section::clamp_duration;
use crate::policy::settings::setters;
use retry_classify::Kind;

/// The number of retries, and the pause before each of them: plain data.
///
/// A policy contains the keys `max`, `backoff`, `base`, `factor`, `cap`, `floor`, `jitter`, `hint`, `max_hint`,
/// `timeout`, `deadline`, `total_timeout`, `total_delay`, `enabled` and the sections `transient(…)`, `throttled(…)`,
/// `timed_out(…)`, `invalid(…)`, `rejected(…)`, with the same names and defaults as in the attribute. Every constructor
/// and setter is a `const fn`.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Classify, Policy, Verdict, retry};
///
/// struct Client { policy: Policy }
///
/// impl Client {
///     #[retry(policy = self.policy, on = |_| true)]
///     async fn complete(&self) -> Result<String, String> {
///         Ok(String::from("hello"))
///     }
/// }
///
/// const PATIENT: Policy = Policy::new().max(8).cap(Duration::from_secs(120));
/// let client = Client { policy: PATIENT };
/// ```
///
/// As text, a policy is written like the attribute's arguments, so one command-line flag or environment variable can
/// contain it. `Display` prints it in the same form. With the feature `serde`, it can also be a table in a
/// configuration file.
///
/// ```
/// use retry_runtime::Policy;
///
/// let policy: Policy = "max=5, backoff=exp, base=250ms".parse()?;
/// assert_eq!(policy.to_string().parse(), Ok(policy));
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// The setters accept any value. A factor below 1 counts as 1. A jitter ratio outside 0–1 counts as 0 or 1. A duration
/// above 584 years counts as 584 years, and a `base` or `floor` above `cap` as `cap`. A `base` or `factor` that is set
/// after a [list](Backoff::List) is ignored. The attribute, text and configuration files reject such values instead,
/// and so do [`checked`](Self::checked), for constants, and [`try_checked`](Self::try_checked).
///
/// Two policies are equal if they have the same effect: an unset key equals its default.
#[derive(Clone, Copy, Default)]
pub struct Policy {
    /// The values that were set, without defaults.
    settings: PolicySettings,
}

impl Policy {
    /// The attribute's defaults: 3 retries, exponential from 1 s by a factor of 2 up to 30 s, full jitter, hints
    /// honored up to 120 s, no deadline.
    pub const fn new() -> Self {
        Self {
            settings: PolicySettings::new(),
        }
    }

    /// A policy with the same delay before every retry, and the default jitter.
    pub const fn fixed(delay: Duration) -> Self {
        Self::new().backoff(Backoff::Fixed).base(delay)
    }

    /// A policy whose delays grow by `step` with every retry.
    pub const fn linear(step: Duration) -> Self {
        Self::new().backoff(Backoff::Linear).base(step)
    }

    /// A policy with delays of `base` times 1, 1, 2, 3, 5, 8, …
    pub const fn fibonacci(base: Duration) -> Self {
        Self::new().backoff(Backoff::Fibonacci).base(base)
    }

    /// A policy that retries without delay.
    pub const fn none() -> Self {
        Self::new().backoff(Backoff::None)
    }

    /// Sets the shape of the delays. Default [`Backoff::Exponential`].
    pub const fn backoff(self, backoff: Backoff) -> Self {
        self.with_section(None, Section::new().backoff(backoff))
    }

    setters! {
        /// Sets the number of retries after the first attempt; 0 means none. Default 3. `u32::MAX` is unlimited:
        /// combine it with a [`deadline`](Self::deadline).
        max(retries: u32): [settings.sections[0].max] = retries;

        /// Sets the first delay. Default 1 s. Ignored if set after a [list](Backoff::List): [`checked`](Self::checked)
        /// then rejects the policy.
        base(base: Duration): [settings.sections[0].base] = clamp_duration(base);

        /// Sets the growth of [`Backoff::Exponential`], at least 1. Default 2. Ignored if set after a
        /// [list](Backoff::List).
        factor(factor: f64): [settings.sections[0].factor] = factor;

        /// Sets the longest delay, including jitter. Default 30 s; for a [list](Backoff::List), none. A server's hint
        /// may be longer.
        cap(cap: Duration): [settings.sections[0].cap] = clamp_duration(cap);

        /// Sets the randomness of the delays. Default [`Jitter::Full`].
        jitter(jitter: Jitter): [settings.sections[0].jitter] = jitter;

        /// Sets the shortest delay, including jitter. Default 0. The floor also applies to sections. A server's hint
        /// may be longer.
        ///
        /// Full jitter can draw a delay near zero. If an immediate second attempt would only add load, set a floor.
        /// Keep it well below `base`, or the first delays are no longer random. A floor doesn't add a delay to retries
        /// that have none: those with [`Backoff::None`], even in a section, and those after invalid values.
        ///
        /// ```
        /// use std::time::Duration;
        /// use retry_runtime::Policy;
        ///
        /// let policy = Policy::new()
        ///     .base(Duration::from_millis(50))
        ///     .floor(Duration::from_millis(100));
        /// let delays = policy.delays().map(|delay| delay.as_millis());
        /// assert_eq!(delays.collect::<Vec<_>>(), [100, 100, 200]);
        /// ```
        floor(floor: Duration): [settings.call.floor] = clamp_duration(floor);

        /// Sets the effect of a server's hint on the delay. Default [`Hint::Honor`].
        hint(hint: Hint): [settings.call.hint] = hint;

        /// Sets the longest accepted hint. A longer one ends the call, or is cut to this time by [`Hint::Clamp`].
        /// Default 120 s; with [`Hint::Clamp`], 5 s above the policy's shortest delay.
        max_hint(longest: Duration): [settings.call.max_hint] = clamp_duration(longest);

        /// Sets the time limit for each attempt, in calls that enforce it. Default: none.
        ///
        /// An attempt that takes longer is dropped and fails with a [`TimedOut`](crate::TimedOut), so the error type
        /// must be `From<TimedOut>`. A call has to opt in: the attribute with the key `timeout` without a value, a
        /// chain with [`PolicyCall::policy_timeout`](crate::chain::PolicyCall::policy_timeout). The timeout has no
        /// effect on other calls, blocking code, batches and plans; the log then has one `WARN` per call name.
        ///
        /// ```
        /// use retry_runtime::{Policy, retry};
        ///
        /// struct Client { policy: Policy }
        ///
        /// impl Client {
        ///     #[retry(policy = self.policy, timeout)]
        ///     async fn fetch(&self) -> std::io::Result<String> {
        ///         Ok(String::from("hello"))
        ///     }
        /// }
        ///
        /// let client = Client { policy: "max=5, timeout=30s".parse()? };
        /// # Ok::<(), retry_runtime::PolicyError>(())
        /// ```
        timeout(timeout: Duration): [settings.call.timeout] = clamp_duration(timeout);

        /// Sets the time limit for the whole call, from its start. No retry starts after it. An attempt in flight is
        /// not dropped; [`total_timeout`](Self::total_timeout) does that. Default: none.
        deadline(deadline: Duration): [settings.call.deadline] = clamp_duration(deadline);

        /// Sets the time limit for the whole call, from its start, at which a running attempt is dropped. No pause ends
        /// later. Default: none.
        ///
        /// A dropped attempt fails with a [`TimedOut`](crate::TimedOut), and the call ends with
        /// [`Reason::Deadline`](crate::Reason::Deadline). As with [`timeout`](Self::timeout), a call has to opt in: the
        /// attribute with the key `timeout`, with or without a value, a chain with
        /// [`PolicyCall::policy_timeout`](crate::chain::PolicyCall::policy_timeout) or
        /// [`timeout`](crate::chain::PolicyCall::timeout). Other calls treat the limit as a
        /// [`deadline`](Self::deadline).
        ///
        /// ```
        /// use std::io;
        /// use std::time::Duration;
        /// use retry_runtime::Policy;
        ///
        /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
        /// # async fn main() {
        /// let policy = Policy::new().total_timeout(Duration::from_secs(10));
        /// let hangs = policy
        ///     .policy_timeout()
        ///     .call(async || std::future::pending::<io::Result<()>>().await);
        /// assert_eq!(hangs.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        /// # }
        /// ```
        total_timeout(limit: Duration): [settings.call.total_timeout] = clamp_duration(limit);

        /// Sets the limit for the sum of all pauses of a call, regardless of how long its attempts take: a pause that
        /// would exceed the limit ends the call instead. The limit and the pauses are rounded up to whole milliseconds.
        /// The limit is at most 49 days. Default: none.
        ///
        /// ```
        /// use std::time::Duration;
        /// use retry_runtime::{Jitter, Policy, testing};
        ///
        /// let policy = Policy::fixed(Duration::from_secs(2)).max(9).jitter(Jitter::None);
        /// let limited = policy.total_delay(Duration::from_secs(5));
        /// let skipped = testing::skip_sleeps();
        /// let called = limited.on(|_: &&str| true).call_blocking(|| Err::<(), _>("busy"));
        /// assert_eq!((called, skipped.total().as_secs()), (Err("busy"), 4));
        /// ```
        total_delay(limit: Duration): [settings.call.total_delay] = limit;

        /// Turns retries on or off. `false` means one attempt, regardless of other keys and sections: there are no
        /// pauses, and the call ends as with `max = 0`. Breakers and limiters still apply. Default true.
        ///
        /// One layer of configuration can turn off all retries this way. `max=0` would not affect a section that has
        /// its own `max`:
        ///
        /// ```
        /// use retry_runtime::{Policy, Section};
        ///
        /// let policy = Policy::new().throttled(Section::new().max(10));
        /// let off = policy.overridden_by(&"enabled=false".parse()?)?;
        /// assert_eq!(off.delays().count(), 0);
        /// # Ok::<(), retry_runtime::PolicyError>(())
        /// ```
        enabled(enabled: bool): [settings.call.enabled] = enabled;
    }

    /// Sets separate values for transient failures. A second call replaces only the keys that it sets.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Policy, Section};
    ///
    /// let policy = Policy::new().transient(Section::new().max(9));
    /// let slower = policy.transient(Section::new().base(Duration::from_secs(5)));
    /// assert!(slower.to_string().contains("transient(max=9, base=5s)"));
    /// ```
    pub const fn transient(self, section: Section) -> Self {
        self.with_section(Some(Kind::Transient), section)
    }

    /// Sets separate values for throttled requests, merged key by key as in [`Policy::transient`].
    pub const fn throttled(self, section: Section) -> Self {
        self.with_section(Some(Kind::Throttled), section)
    }

    /// Sets separate values for timeouts, merged key by key as in [`Policy::transient`].
    pub const fn timed_out(self, section: Section) -> Self {
        self.with_section(Some(Kind::Timeout), section)
    }

    /// Sets separate values for retries after an invalid value, merged key by key as in [`Policy::transient`]. There is
    /// no delay unless the section sets `backoff`, `base`, `factor`, `cap` or `jitter`, because waiting doesn't improve
    /// an answer. Values that the key `validate` rejects have their own count, up to the policy's `max` if the section
    /// sets none.
    pub const fn invalid(self, section: Section) -> Self {
        self.with_section(Some(Kind::Invalid), section)
    }

    /// Sets the values for retries after a breaker or a limiter rejects an attempt, merged key by key as in
    /// [`Policy::transient`]. Without this section, a rejection ends the call.
    ///
    /// These retries have their own count, up to the policy's `max` if the section sets none. They don't count as
    /// attempts, and no budget pays for them, but their pauses count against `total_delay`. A pause lasts at least
    /// until the breaker turns half open, if that time is known. Once the retries are used up, a rejection ends the
    /// call. Durable calls have neither a breaker nor a limiter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_protections::ConcurrencyLimiter;
    /// use retry_runtime::seam::AdmissionControl;
    /// use retry_runtime::{Jitter, Policy, Rejected, Section, testing};
    ///
    /// static FIVE_AT_A_TIME: ConcurrencyLimiter = ConcurrencyLimiter::fixed(5).queue(0);
    ///
    /// let again = Section::new().max(20).base(Duration::from_millis(100)).jitter(Jitter::None);
    /// let policy = Policy::fixed(Duration::from_secs(1)).rejected(again);
    /// let skipped = testing::skip_sleeps();
    /// for _ in 0..5 {
    ///     // Another attempt starts, and doesn't end.
    ///     let _ = FIVE_AT_A_TIME.enter(1);
    /// }
    /// let call = policy.on(|_: &Rejected| false).limiter(&FIVE_AT_A_TIME);
    /// assert!(call.call_blocking(|| Ok(())).is_err());
    /// assert_eq!(skipped.total(), Duration::from_secs(2));
    /// ```
    pub const fn rejected(self, section: Section) -> Self {
        self.with_section(Some(Kind::Rejected), section)
    }

    /// An iterator over the delays without jitter, one for each retry; endless if retries are unlimited.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// let total: Duration = Policy::new().max(5).delays().sum();
    /// assert_eq!(total, Duration::from_secs(1 + 2 + 4 + 8 + 16));
    /// ```
    pub const fn delays(&self) -> Pauses {
        let mut schedule = self.in_force(self.named(None));
        schedule.jitter = Jitter::None;
        Pauses::new(schedule)
    }

    /// An iterator over the policy's pauses, for loops that poll, watch or reconnect. Each pause is drawn with the
    /// policy's jitter, up to its `max`. Nothing is logged, and `deadline` and the sections have no effect.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Policy, testing};
    ///
    /// let _seeded = testing::seed(7);
    /// let mut pauses = Policy::new().max(u32::MAX).cap(Duration::from_secs(5)).pauses();
    /// let third = pauses.nth(2).unwrap();
    /// assert!(third <= Duration::from_secs(4));
    ///
    /// // The connection lasted for a while: start again with the first pause.
    /// pauses.reset();
    /// assert!(pauses.next().unwrap() <= Duration::from_secs(1));
    /// ```
    pub const fn pauses(&self) -> Pauses {
        Pauses::new(self.in_force(self.named(None)))
    }

    /// This policy with the values of `named` in place of its own values, or of its values for `kind`.
    pub(crate) const fn with_section(mut self, kind: Option<Kind>, named: Section) -> Self {
        let row = row(kind);
        self.settings.sections[row] = self.settings.sections[row].overridden_by(named);
        self
    }

    /// The values set for a kind of failure, or for all failures, each clamped to its range, without values that have
    /// no effect with a list.
    const fn named(&self, kind: Option<Kind>) -> Section {
        let named = self.settings.sections[row(kind)].within_ranges();
        let inherits = named.backoff.is_none() && self.settings.sections[0].has_list();
        if inherits || named.has_list() {
            return named.without_growth();
        }
        named
    }

    /// All values that are set, as [`Self::named`] returns them.
    fn all_set(&self) -> PolicySettings {
        PolicySettings {
            sections: SECTIONS.map(|(_, kind)| self.named(kind)),
            call: self.settings.call,
        }
    }

    /// All values in force, including defaults. `None` for keys without effect.
    pub(crate) fn all_in_force(&self) -> PolicySettings {
        let mut all = self.all_set();
        let has_list = all.sections.iter().any(Section::has_list);
        let own = all.sections[0];
        all.sections[0] = Schedule::new(own, None).named();
        if has_list {
            // As an explicit value, the default would clip lists.
            all.sections[0].cap = own.cap;
        }
        let call = &mut all.call;
        call.floor = call.floor.filter(|floor| !floor.is_zero());
        call.hint = Some(self.hint_rule());
        call.max_hint = self.longest_hint();
        call.total_delay = self.delay_limit();
        call.enabled = call.enabled.filter(|is_enabled| !is_enabled);
        all
    }

    /// The values in force for a kind of failure; without a kind, the policy's own.
    pub(crate) fn schedule(&self, kind: Option<Kind>, values: Values) -> Schedule {
        let own = self.named(None);
        self.in_force(match kind {
            Some(kind) => own.overridden_by(self.section(kind, values)),
            None => own,
        })
    }

    /// The values in force if only `named` is set.
    const fn in_force(&self, named: Section) -> Schedule {
        let mut schedule = Schedule::new(named, self.settings.call.floor);
        if !self.is_enabled() {
            schedule.max = 0;
        }
        schedule
    }

    /// The values in force when a function computes the delays. `None` if the function doesn't apply to this kind: a
    /// section's own shape takes precedence, and so does the zero delay of invalid values. The default cap clips
    /// neither computed delays nor lists.
    pub(crate) fn computed_schedule(&self, kind: Kind, values: Values) -> Option<Schedule> {
        const NO_SHAPE: &[Duration] = &[];
        let section = self.section(kind, values);
        if section.backoff.is_some() {
            return None;
        }
        let mut named = self.named(None).overridden_by(section);
        named.backoff = Some(Backoff::List(&NO_SHAPE));
        Some(self.in_force(named))
    }

    /// Returns true if failures of this kind are counted separately.
    pub(crate) fn has_own_count(&self, kind: Kind, values: Values) -> bool {
        self.section(kind, values).max.is_some()
    }

    /// The number of retries allowed after the first attempt: the value of [`max`](Self::max), `u32::MAX` if unlimited,
    /// 0 if retries are turned off. A section with its own `max` is not included.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let from_file: Policy = "max=5000, base=1s".parse()?;
    /// let limited = from_file.max(from_file.retries_allowed().min(100));
    /// assert_eq!(limited.retries_allowed(), 100);
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub const fn retries_allowed(&self) -> u32 {
        self.in_force(self.named(None)).max
    }

    /// The most attempts that a call makes. `None` if unlimited.
    #[cfg(feature = "nested")]
    pub(crate) const fn most_attempts(&self, values: Values) -> Option<u64> {
        let own = self.retries_allowed();
        let mut attempts = 1 + own as u64;
        let mut kinds: &[Kind] = &Kind::OF_FAILURES;
        while let [kind, rest @ ..] = kinds {
            attempts += match self.named(Some(*kind)).max {
                Some(max) if self.is_enabled() => max as u64,
                None if values.are_validated() && matches!(kind, Kind::Invalid) => own as u64,
                _ => 0,
            };
            kinds = rest;
        }
        // An unlimited `max` is `u32::MAX`.
        if attempts > u32::MAX as u64 {
            return None;
        }
        Some(attempts)
    }

    /// Returns true if retries are turned on.
    pub(crate) const fn is_enabled(&self) -> bool {
        or_default(self.settings.call.enabled, true)
    }

    pub(crate) const fn hint_rule(&self) -> Hint {
        or_default(self.settings.call.hint, Hint::Honor)
    }

    /// The longest accepted hint. `None` if unlimited.
    pub(crate) const fn longest_hint(&self) -> Option<Duration> {
        match (self.hint_rule(), self.settings.call.max_hint) {
            (Hint::Honor | Hint::Exact, None) => Some(Duration::from_secs(120)),
            (_, named) => named,
        }
    }

    /// The time after which no attempt starts: [`deadline`](Self::deadline) or [`total_timeout`](Self::total_timeout),
    /// whichever is shorter. `None` if unlimited.
    #[inline]
    pub const fn time_limit(&self) -> Option<Duration> {
        let call = &self.settings.call;
        match (call.deadline, call.total_timeout) {
            (Some(deadline), Some(total)) if total.as_nanos() < deadline.as_nanos() => Some(total),
            (None, total) => total,
            (deadline, _) => deadline,
        }
    }

    /// The time limit for the whole call, running attempts included: the value of
    /// [`total_timeout`](Self::total_timeout). `None` if unlimited. Your own loop has to drop the attempt.
    #[inline]
    pub const fn total_limit(&self) -> Option<Duration> {
        self.settings.call.total_timeout
    }

    /// The limit for the sum of all pauses: the value of [`total_delay`](Self::total_delay). `None` if unlimited.
    pub const fn delay_limit(&self) -> Option<Duration> {
        match self.settings.call.total_delay {
            Some(limit) => Some(Duration::from_millis(millis(limit) as u64)),
            None => None,
        }
    }

    /// The time limit for each attempt: the value of [`timeout`](Self::timeout). `None` if unlimited. Your own loop has
    /// to enforce it.
    #[inline]
    pub const fn attempt_limit(&self) -> Option<Duration> {
        self.settings.call.timeout
    }

    /// The values for a kind of failure, in a call that handles its attempts' values as `values` describes.
    fn section(&self, kind: Kind, values: Values) -> Section {
        let mut named = self.named(Some(kind));
        if kind == Kind::Invalid {
            if !named.sets_delays() {
                named.backoff = Some(Backoff::None);
            }
            if values.are_validated() && named.max.is_none() {
                named.max = Some(self.retries_allowed());
            }
        }
        if kind == Kind::Rejected && named.max.is_none() {
            let is_named = named != Section::new();
            named.max = Some(if is_named { self.retries_allowed() } else { 0 });
        }
        named
    }
}

/// The duration in milliseconds, rounded up; at most 49 days.
#[expect(clippy::cast_possible_truncation, reason = "the number is checked")]
pub(crate) const fn millis(duration: Duration) -> u32 {
    match duration.as_nanos().div_ceil(1_000_000) {
        millis if millis < u32::MAX as u128 => millis as u32,
        _ => u32::MAX - 1,
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.all_in_force() == other.all_in_force()
    }
}

/// Prints the policy as text, in parentheses.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({self})")
    }
}

#[cfg(test)]
mod tests {
    use retry_vocabulary::duration::LONGEST;

    use super::*;

    const LIST: &[Duration] = &[Duration::from_secs(300)];

    #[test]
    fn sections_inherit_from_the_policy() {
        let policy = Policy::new()
            .base(Duration::from_secs(2))
            .floor(Duration::from_secs(1))
            .throttled(Section::new().max(9).backoff(Backoff::List(&LIST)))
            .timed_out(Section::new().cap(Duration::from_secs(5)));
        let schedule = |kind| policy.schedule(Some(kind), Values::Taken);
        assert_eq!(
            schedule(Kind::Transient),
            policy.schedule(None, Values::Taken)
        );
        let throttled = schedule(Kind::Throttled);
        assert_eq!((throttled.max, throttled.cap), (9, Duration::MAX));
        assert_eq!(throttled.plain_delay(1), LIST[0]);
        assert_eq!(
            schedule(Kind::Timeout).plain_delay(9),
            Duration::from_secs(5)
        );
        assert_eq!(schedule(Kind::Timeout).floor, Duration::from_secs(1));
        assert_eq!(schedule(Kind::Invalid).plain_delay(1), Duration::ZERO);
        assert!(policy.has_own_count(Kind::Throttled, Values::Taken));
        assert!(!policy.has_own_count(Kind::Invalid, Values::Taken));
        assert!(policy.has_own_count(Kind::Invalid, Values::Validated));
        // A section without its own shape inherits the policy's list.
        let listed = Policy::new().backoff(Backoff::List(&LIST));
        let listed = listed.timed_out(
            Section::new()
                .cap(Duration::from_secs(5))
                .base(Duration::ZERO),
        );
        assert_eq!(
            listed
                .schedule(Some(Kind::Timeout), Values::Taken)
                .plain_delay(1),
            Duration::from_secs(5)
        );
        let grown = listed.transient(Section::new().backoff(Backoff::Exponential));
        assert_eq!(
            grown
                .schedule(Some(Kind::Transient), Values::Taken)
                .plain_delay(9),
            Duration::from_secs(30)
        );
    }

    #[test]
    fn equal_policies_print_the_same_text() {
        let (thirty, list) = (Duration::from_secs(30), Backoff::List(&LIST));
        assert_eq!(
            Policy::new(),
            Policy::new().cap(thirty).factor(2.0).floor(Duration::ZERO)
        );
        // By default, a list has no cap.
        assert_ne!(
            Policy::new().backoff(list),
            Policy::new().backoff(list).cap(thirty)
        );
        assert_eq!(
            Policy::new().backoff(list),
            Policy::new().backoff(Backoff::list(LIST))
        );
        let debug = format!("{:?}", Policy::none());
        assert!(debug.starts_with("Policy(max=3, backoff=none,"), "{debug}");
    }

    #[test]
    fn sections_do_not_affect_each_other() {
        let named = Section::new().max(u32::MAX).base(Duration::ZERO);
        for kind in Kind::ALL {
            let policy = Policy::new().with_section(Some(kind), named);
            assert_eq!(policy.named(Some(kind)), named);
            assert_eq!(policy.named(None), Section::new());
            for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
                assert_eq!(policy.named(Some(other)), Section::new());
            }
        }
        assert_eq!(Policy::new().with_section(None, named).named(None), named);
    }

    #[test]
    fn values_out_of_range_are_clamped() {
        let kept = |section| Policy::new().with_section(None, section).named(None);
        for (given, factor) in [
            (0.5, 1.0),
            (f64::NAN, 1.0),
            (-1.0, 1.0),
            (1.5, 1.5),
            (f64::INFINITY, f64::MAX),
        ] {
            assert_eq!(kept(Section::new().factor(given)).factor, Some(factor));
        }
        for (given, ratio) in [(-0.5, 0.0), (f64::NAN, 0.0), (1.5, 1.0), (0.2, 0.2)] {
            let jitter = Jitter::Ratio(given);
            assert_eq!(
                kept(Section::new().jitter(jitter)).jitter,
                Some(Jitter::Ratio(ratio))
            );
        }
        let forever = kept(Section::new().cap(Duration::MAX));
        assert_eq!(forever.cap, Some(LONGEST));
        let empty = kept(Section::new().backoff(Backoff::list(&[])));
        assert_eq!(empty.backoff, Some(Backoff::None));
    }

    #[test]
    fn a_list_takes_the_place_of_base_and_factor() {
        let list = Section::new().backoff(Backoff::List(&LIST));
        let kept = Policy::new().with_section(None, list.base(Duration::ZERO).factor(3.0));
        assert_eq!(kept.named(None), list);
    }
}
