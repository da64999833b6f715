//! Keys that have no effect beside others: refused in one text, not printed, and no matter between layers.

use std::time::Duration;

use retry_runtime::{Backoff, Hint, Jitter, Overrides, Policy, Section};

fn policy(text: &str) -> Policy {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    match text.parse::<Policy>() {
        Ok(policy) => panic!("{text:?} was read as {policy}"),
        Err(error) => error.to_string(),
    }
}

/// As the attribute does: see `tests/ui/fail/*_with_none.rs` and their like.
#[test]
fn refuses_what_has_no_effect() {
    let table = [
        ("backoff=none, base=1s", "base", "backoff = none"),
        ("cap=1m, backoff=none", "cap", "backoff = none"),
        ("backoff=none, factor=3", "factor", "backoff = none"),
        ("backoff=none, jitter=full", "jitter", "backoff = none"),
        ("backoff=fixed, factor=3", "factor", "backoff = fixed"),
        ("backoff=linear, factor=3", "factor", "backoff = linear"),
        (
            "backoff=fibonacci, factor=3",
            "factor",
            "backoff = fibonacci",
        ),
        (
            "jitter=decorrelated, factor=3",
            "factor",
            "jitter = decorrelated",
        ),
        (
            "jitter=decorrelated, backoff=fixed",
            "backoff",
            "jitter = decorrelated",
        ),
        ("hint=clamp, max_hint=5s", "max_hint", "hint = clamp"),
        ("max_hint=5s, hint=ignore", "max_hint", "hint = ignore"),
        (
            "invalid(backoff=none, base=1s)",
            "invalid.base",
            "invalid.backoff = none",
        ),
        (
            "throttled(backoff=fixed, factor=3)",
            "throttled.factor",
            "throttled.backoff = fixed",
        ),
        (
            "timed_out(jitter=decorrelated, factor=3)",
            "timed_out.factor",
            "timed_out.jitter = decorrelated",
        ),
        (
            "transient(factor=3), backoff=fixed",
            "transient.factor",
            "backoff = fixed",
        ),
        (
            "backoff=none, invalid(cap=1s)",
            "invalid.cap",
            "backoff = none",
        ),
        // No section takes these from the policy, or none that makes use of them.
        (
            "backoff=none, base=1s, throttled(max=9)",
            "base",
            "backoff = none",
        ),
        (
            "backoff=none, base=1s, throttled(backoff=fixed, base=2s)",
            "base",
            "backoff = none",
        ),
        (
            "backoff=none, factor=3, throttled(backoff=fixed)",
            "factor",
            "backoff = none",
        ),
        (
            "backoff=none, base=1s, invalid(max=1)",
            "base",
            "backoff = none",
        ),
    ];
    for (text, key, by) in table {
        let message = format!("`{key}` has no effect with `{by}`: remove one of the two");
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn reads_what_a_section_makes_use_of() {
    for text in [
        "backoff=none, base=5s, throttled(backoff=fixed)",
        "backoff=none, cap=5s, base=5s, invalid(backoff=exp)",
        "backoff=none, base=40s, cap=1m, throttled(backoff=fixed, cap=1m)",
        "backoff=fixed, factor=3, timed_out(backoff=exp)",
        "jitter=decorrelated, backoff=fixed, throttled(jitter=none)",
        "jitter=decorrelated, backoff=exp",
        "backoff=none, jitter=none",
        "backoff=none, jitter=none, throttled(jitter=full)",
        "backoff=none, throttled(backoff=fixed, jitter=decorrelated)",
        "backoff=none, throttled(backoff=fixed, base=5s)",
        "hint=honor, max_hint=5s",
    ] {
        let read = policy(text);
        assert_eq!(policy(&read.to_string()), read, "{text}");
        let layer: Overrides = text.parse().unwrap();
        assert_eq!(layer.to_string().parse(), Ok(layer), "{text}");
    }
}

#[test]
fn prints_only_what_has_an_effect() {
    let second = Duration::from_secs(1);
    let table = [
        (
            Policy::none(),
            "max=3, backoff=none, hint=honor, max_hint=1m",
        ),
        (
            Policy::fixed(second).factor(3.0),
            "max=3, backoff=fixed, base=1s, cap=30s, jitter=full, hint=honor, max_hint=1m",
        ),
        (
            Policy::fixed(second).jitter(Jitter::Decorrelated),
            "max=3, base=1s, cap=30s, jitter=decorrelated, hint=honor, max_hint=1m",
        ),
        (
            Policy::none()
                .hint(Hint::Ignore)
                .throttled(Section::new().backoff(Backoff::Fixed)),
            "max=3, backoff=none, base=1s, cap=30s, jitter=full, hint=ignore, throttled(backoff=fixed)",
        ),
        (
            Policy::none().throttled(Section::new().base(second)),
            "max=3, backoff=none, hint=honor, max_hint=1m",
        ),
        (
            Policy::new().invalid(Section::new().max(1).backoff(Backoff::None).base(second)),
            "max=3, backoff=exp, base=1s, factor=2, cap=30s, jitter=full, hint=honor, max_hint=1m, \
             invalid(max=1, backoff=none)",
        ),
    ];
    for (policy, text) in table {
        assert_eq!(policy.to_string(), text);
    }
}

/// What a layer has set stays set: only one text may not contradict itself.
#[test]
fn layers_may_take_the_effect_of_each_others_keys() {
    let file: Overrides = "base=5s, factor=3".parse().unwrap();
    let at_once: Overrides = "backoff=none".parse().unwrap();
    let growing: Overrides = "backoff=exp".parse().unwrap();
    let both = file.clone().overridden_by(&at_once);
    assert_eq!(both.to_string(), "backoff=none");
    let policy = Policy::new().overridden_by(&both).unwrap();
    assert_eq!(policy.delays().next(), Some(Duration::ZERO));
    let policy = policy.overridden_by(&growing).unwrap();
    let seconds: Vec<_> = policy.delays().map(|delay| delay.as_secs()).collect();
    assert_eq!(seconds, [5, 15, 30]);
}
