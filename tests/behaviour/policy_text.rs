//! Policies as text: parsing, error messages, and the combination of layers.

use retry_runtime::PolicyError;
use retry_runtime::configuration::Overrides;
use support::prelude::*;

const KEYS: &str = "max, backoff, base, factor, cap, floor, jitter, hint, max_hint, timeout, deadline, total_timeout, total_delay, enabled, transient, throttled, timed_out, invalid, rejected";

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

fn late(delay: &str, deadline: &str) -> String {
    format!(
        "the first retry would come too late (its delay is at least {delay}, `deadline = {deadline}`): lower one or raise the other"
    )
}

fn above(low: &str, high: &str) -> String {
    format!("`{low}` is above `{high}`: lower the first or raise the second")
}

fn no_effect(key: &str) -> String {
    format!("`{key}` has no effect with a list of delays: remove one of them")
}

fn no_unit(key: &str, value: &str) -> String {
    format!("`{key} = {value}` has no unit: write `\"{value}s\"` for seconds, or `ms`, `m`, `h`")
}

fn both(word: &str) -> String {
    format!(
        "`{word}` is not a key with a value: write both, as in `max=5, backoff=[1s, 5s], throttled(max=9)`"
    )
}

fn twice(key: &str) -> String {
    format!("`{key}` is given twice: keep one")
}

#[test]
fn reads_every_key() {
    let text = "max=5, backoff=linear, base=250ms, factor=1.5, cap=1h30m, floor=100ms, jitter=0.2, hint=clamp, max_hint=0s, \
                timeout=45s, deadline=2m, total_timeout=3m, total_delay=1m, transient(max=unlimited, backoff=[1s, 5m]), throttled(max=10, backoff=fixed, base=5s, factor=3, \
                cap=1m30s, jitter=none), timed_out(jitter=1), rejected(max=20, base=100ms)";
    let expected = Policy::linear(millis(250))
        .max(5)
        .factor(1.5)
        .cap(Duration::from_mins(90))
        .floor(millis(100))
        .jitter(Jitter::Ratio(0.2))
        .hint(Hint::Clamp)
        .max_hint(Duration::ZERO)
        .timeout(secs(45))
        .deadline(Duration::from_mins(2))
        .total_timeout(Duration::from_mins(3))
        .total_delay(Duration::from_mins(1))
        .transient(
            Section::new()
                .max(u32::MAX)
                .backoff(Backoff::list(&[secs(1), Duration::from_mins(5)])),
        )
        .throttled(
            Section::new()
                .max(10)
                .backoff(Backoff::Fixed)
                .base(secs(5))
                .factor(3.0)
                .cap(secs(90))
                .jitter(Jitter::None),
        )
        .timed_out(Section::new().jitter(Jitter::Ratio(1.0)))
        .rejected(Section::new().max(20).base(millis(100)));
    assert_eq!(policy(text), expected);
    assert_eq!(expected.to_string(), text);
}

#[test]
fn reads_every_way_of_writing() {
    for (text, same) in [
        ("", ""),
        (" \n ", ""),
        ("max=5,", "max=5"),
        ("\n\tmax = 5 ,\n base = 2s ,\n", "max=5, base=2s"),
        ("max(5), backoff(fixed)", "max=5, backoff=fixed"),
        (
            "backoff = \"fixed\", base(\"2s\")",
            "backoff=fixed, base=2s",
        ),
        ("max=\"unlimited\"", "max=unlimited"),
        ("base=1s 500ms", "base=1.5s"),
        ("throttled ( max ( 5 ) , ) ,", "throttled(max=5)"),
        ("throttled()", ""),
        ("base=2ms5µs3ns", "base=2005003ns"),
        ("cap=2w", "cap=14d"),
        ("backoff=[1s,5s, 30s]", "backoff=[1s, 5s, 30s]"),
        ("backoff ( [ \"1s\" , 5 s, ] ) ,", "backoff=[1s, 5s]"),
        ("backoff=[1s], floor=0s", "backoff=[1s]"),
        ("factor=1e3, jitter=1", "factor=1000, jitter=1.0"),
    ] {
        assert_eq!(policy(text), policy(same), "{text:?}");
    }
    assert_eq!(policy(""), Policy::new());
    assert_eq!(policy("max=4294967294"), Policy::new().max(u32::MAX - 1));
    assert_eq!(policy("max=unlimited"), Policy::new().max(u32::MAX));
}

#[test]
fn prints_the_format_that_it_parses() {
    assert_eq!(
        Policy::new().to_string(),
        "max=3, backoff=exp, base=1s, factor=2, cap=30s, jitter=full, hint=honor, max_hint=2m",
    );
    let patient = Policy::new()
        .max(u32::MAX)
        .factor(1.5)
        .cap(Duration::MAX)
        .jitter(Jitter::Ratio(0.25))
        .deadline(secs(90))
        .throttled(Section::new().max(10).base(secs(5)));
    assert_eq!(
        patient.to_string(),
        "max=unlimited, backoff=exp, base=1s, factor=1.5, \
         cap=213503d23h34m33s709ms551us614ns, jitter=0.25, hint=honor, max_hint=2m, \
         deadline=1m30s, throttled(max=10, base=5s)",
    );
    // A default cap that is printed would be named, and clip a list.
    let listed = Policy::new().backoff(Backoff::list(&[Duration::from_mins(1)]));
    let expected = "max=3, backoff=[1m], jitter=full, hint=honor, max_hint=2m";
    assert_eq!(listed.to_string(), expected);
    let in_section =
        Policy::new().throttled(Section::new().backoff(Backoff::list(&[Duration::from_mins(1)])));
    assert_eq!(
        in_section.to_string(),
        "max=3, backoff=exp, base=1s, factor=2, jitter=full, hint=honor, max_hint=2m, throttled(backoff=[1m])",
    );
    for policy in [listed, listed.cap(secs(30)), in_section] {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    let named: Overrides = "throttled(base(5s)), max=2,".parse().unwrap();
    assert_eq!(named.to_string(), "max=2, throttled(base=5s)");
    assert_eq!(Overrides::default().to_string(), "");
}

#[test]
fn refuses_keys() {
    for (text, message) in rows! {
        "bakoff=exp", "unknown key `bakoff`: did you mean `backoff`?".into();
        "throtled(max=5)", "unknown key `throtled`: did you mean `throttled`?".into();
        "zzz=5", format!("unknown key `zzz`: expected one of {KEYS}");
        "max_retries=5", "unknown key `max_retries`: use `max`, as in `max = 5`".into();
        "throttled(bsae=5s)", "unknown key `bsae` in `throttled(…)`: did you mean `base`?".into();
        "throttled(hint=honor)",
            "unknown key `hint` in `throttled(…)`: move `hint` out of `throttled(…)`".into();
        "max_attempts=5",
            "unknown key `max_attempts`: use `max`, which counts retries, not attempts: write `max = 4`".into();
        "throttled(attempts(3))",
            "unknown key `attempts` in `throttled(…)`: use `max`, which counts retries, not attempts: write `max = 2`".into();
        "tries=0",
            "unknown key `tries`: use `max`, which counts retries, not attempts: subtract one".into();
        "throttled(initial-interval=5s)",
            "unknown key `initial-interval` in `throttled(…)`: use `base`, as in `base = \"250ms\"`".into();
        "MaxHint=5s", "unknown key `MaxHint`: did you mean `max_hint`?".into();
        "min-delay=1s",
            "unknown key `min-delay`: use `base` (first delay), as in `base = \"250ms\"`, or `floor` (shortest delay, jitter included), as in `floor = \"100ms\"`".into();
        "throttled(min_delay=1s)",
            "unknown key `min_delay` in `throttled(…)`: use `base`, as in `base = \"250ms\"`".into();
        "disabled=true",
            "unknown key `disabled`: use `enabled`, which has the opposite meaning: write `enabled = false`".into();
        "disabled=false",
            "unknown key `disabled`: use `enabled`, which has the opposite meaning: write `enabled = true`".into();
        "non_idempotent=true",
            "unknown key `non_idempotent`: `idempotent` is a key of `#[retry]`, not of a policy".into();
        "randomizationFactor=0.5",
            "unknown key `randomizationFactor`: use `jitter`, as in `jitter = \"full\"`".into();
        "jitter=false",
            "unknown word `false` for `jitter`: did you mean `none`? The words are full, equal, decorrelated, none; or a ratio from 0 to 1".into();
        "max=5, max=6", twice("max");
        "hint=clamp, hint(clamp)", twice("hint");
        "throttled(base=5s, base=6s)", twice("throttled.base");
        "throttled(base=5s), throttled(max=6)", twice("throttled");
    } {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn refuses_values() {
    const COUNT: &str = "it takes a whole number from 0 to 4294967294, or \"unlimited\"";
    const WORDS: &str =
        "exp, fixed, linear, fibonacci, none; or a list of delays, as in [\"1s\", \"5s\", \"30s\"]";
    const DURATION: &str = "it takes a duration, as in \"250ms\", \"1.5s\" or \"1h30m\"";
    for (text, message) in rows! {
        "max=-1", format!("`max = -1` is out of range: {COUNT}");
        "max=4294967295", format!("`max = 4294967295` is out of range: {COUNT}");
        "max=2.5", format!("`max = 2.5` is out of range: {COUNT}");
        "max=lots", format!("`max` can't be `lots`: {COUNT}");
        "max(base=1s)", format!("`max` can't be `(…)`: {COUNT}");
        "transient(max=-1)", format!("`transient.max = -1` is out of range: {COUNT}");
        "backoff=exponential",
            format!("unknown word `exponential` for `backoff`: did you mean `exp`? The words are {WORDS}");
        "timed_out(backoff=7)",
            format!("unknown word `7` for `timed_out.backoff`: the words are {WORDS}");
        "hint=Honour",
            "unknown word `Honour` for `hint`: did you mean `honor`? The words are honor, clamp, exact, ignore".into();
        "jitter=ful",
            "unknown word `ful` for `jitter`: did you mean `full`? \
             The words are full, equal, decorrelated, none; or a ratio from 0 to 1"
                .into();
        "jitter=+1.5", "`jitter = +1.5` is out of range: it takes a ratio from 0 to 1".into();
        "jitter=1.5", "`jitter = 1.5` is out of range: it takes a ratio from 0 to 1".into();
        "jitter=-0.1", "`jitter = -0.1` is out of range: it takes a ratio from 0 to 1".into();
        "jitter=nan", "`jitter = nan` is out of range: it takes a ratio from 0 to 1".into();
        "factor=0.5", "`factor = 0.5` is out of range: it takes a number from 1 up".into();
        "factor=inf", "`factor = inf` is out of range: it takes a number from 1 up".into();
        "factor=NaN", "`factor = NaN` is out of range: it takes a number from 1 up".into();
        "factor=fast", "`factor` can't be `fast`: it takes a number from 1 up".into();
        "base=5", no_unit("base", "5");
        "throttled(base=0.5)", no_unit("throttled.base", "0.5");
        "cap=soon", format!("`cap` can't be `soon`: {DURATION}");
        "max_hint=-5s", "`max_hint = -5s` is out of range: it takes a duration from zero up".into();
        "timeout=0s", "`timeout = 0s` is out of range: it takes a duration above zero".into();
        "timed_out(timeout=1s)", "unknown key `timeout` in `timed_out(…)`: move `timeout` out of `timed_out(…)`".into();
        "on=any", "unknown key `on`: `on` is a key of `#[retry]`, not of a policy".into();
        "deadline=0s", "`deadline = 0s` is out of range: it takes a duration above zero".into();
        "base=0", no_unit("base", "0");
        "cap=1M",
            r#"`cap = 1M` has the unknown unit `M`: write a duration, as in "250ms", "1.5s" or "1h30m" (units: ns, us, ms, s, m, h, d, w)"#.into();
        "cap=213504d",
            "`cap = 213504d` is out of range: it takes at most 213503d, which is 584 years".into();
        "base=0.5ns", "`base = 0.5ns` is out of range: it takes whole nanoseconds".into();
        "base=[5s]", format!("`base` can't be `[…]`: {DURATION}");
        "backoff=[]",
            "`backoff = []` is empty: write at least one delay, as in `[\"1s\", \"5s\", \"30s\"]`".into();
        "throttled(backoff=[1s, 5])", no_unit("throttled.backoff", "5");
        "backoff=[1s], base=1s", no_effect("base");
        "factor=3, backoff=[1s]", no_effect("factor");
        "throttled(backoff=[1s], base=1s)", no_effect("throttled.base");
        "backoff=[1s], throttled(factor=3)", no_effect("throttled.factor");
        "floor=1m", above("floor = 1m", "cap = 30s");
        "floor=2s, throttled(cap=1s)", above("floor = 2s", "throttled.cap = 1s");
        "throttled=5", "`throttled` can't be `5`: it takes keys, as in `max = 5`".into();
        "cap=500ms", above("base = 1s", "cap = 500ms");
        "throttled(base=1m)", above("throttled.base = 1m", "cap = 30s");
        "timed_out(cap=10ms)", above("base = 1s", "timed_out.cap = 10ms");
        "transient(base=2s, cap=10ms)", above("transient.base = 2s", "transient.cap = 10ms");
        "off", "`off` is a value without its key: write `enabled=false`".into();
        "5", "`5` is a value without its key: write `max=5`".into();
        "max=3, exp", "`exp` is a value without its key: write `backoff=exp`".into();
        "backoff=1s, 5s", both("5s");
        "{\"max\": 5}", both("{");
        "max: 5", both("max: 5");
        "max_backoff_ms=500",
            "unknown key `max_backoff_ms`: use `cap`, with the unit in the value: write `cap = \"500ms\"`".into();
        "jitter=none, deadline=999ms", late("1s", "999ms");
        "base=2s, jitter=0.2, deadline=1s", late("1s600ms", "1s");
        "backoff=[4s, 1s], jitter=equal, deadline=1s", late("2s", "1s");
        "floor=2s, deadline=1s", late("2s", "1s");
        "jitter=decorrelated, deadline=500ms, transient(max=0)", late("1s", "500ms");
        "max=0, deadline=1s, throttled(max=1, base=3s, jitter=none)", late("3s", "1s");
        &format!("hint=clamp\n{}", "x".repeat(100)),
            format!(
                "unknown word `clamp {}…` for `hint`: did you mean `clamp`? The words are honor, clamp, exact, ignore",
                "x".repeat(34)
            );
    } {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn a_deadline_that_some_retry_can_meet_is_accepted() {
    for text in [
        "base=2s, jitter=0.5, deadline=1s",
        "base=2s, deadline=1ms",
        "jitter=none, deadline=500ms, throttled(base=100ms)",
        "jitter=none, deadline=500ms, max=0",
        "jitter=none, deadline=500ms, enabled=false",
        "backoff=none, deadline=1ms",
    ] {
        assert!(text.parse::<Policy>().is_ok(), "{text}");
    }
}

#[test]
fn rejects_text_that_is_not_a_list_of_keys() {
    for (text, message) in rows! {
        "max", "`max` has no value: write `max=…`";
        "max=", "`max` has no value: write `max=…`";
        "throttled(max)", "`throttled` can't be `max`: it takes keys, as in `max = 5`";
        "throttled(max,base=1s)", "`max` has no value: write `max=…`";
        "throttled(5s, max=3)", &both("5s");
        "backoff(1s, 5s, 30s)", &both("1s");
        "max(5, 3)", "`5` is a value without its key: write `max=5`";
        "=5", "a key is missing before `=`";
        ",max=5", "a key is missing before `,`";
        "max=5,,base=1s", "a key is missing before `,`";
        "max=5 base=1s", "`,` is missing after the value of `max`";
        "hint=\"clamp\" base=1s", "`,` is missing after the value of `hint`";
        "throttled(hint=\"clamp\" base)", "`,` is missing after the value of `hint`";
        "throttled(max=5) base=1s", "`,` is missing after the value of `throttled`";
        "hint=\"clamp", "the value of `hint` has no closing quote";
        "backoff=[1s", "`]` is missing after the value of `backoff`";
        "backoff=[1s 5s=", "`]` is missing after the value of `backoff`";
        "backoff=[[1s]]", "`backoff` has no value: write `backoff=…`";
        "backoff=[1s)", "`]` is missing after the value of `backoff`";
        "backoff=[,1s]", "`backoff` has no value: write `backoff=…`";
        "base(x\"1s\")", &both("x");
        "backoff([1s]", "`)` is missing after the value of `backoff`";
        "backoff=1s]", "`,` is missing after the value of `backoff`";
        "max=5)", "`)` without a `(` before it";
        "max(5", "`)` is missing after the value of `max`";
        "throttled(max=5", "`)` is missing after the value of `throttled`";
        "throttled(max(a(", "`)` is missing after the value of `a`";
    } {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn survives_absurd_texts() {
    for bracket in ["throttled(", "backoff=[", "backoff([["] {
        assert!(bracket.repeat(200_000).parse::<Overrides>().is_err());
    }
    let nested = format!("backoff={}", "[".repeat(200_000));
    assert!(nested.parse::<Overrides>().is_err());
    for sum in [
        "18446744073709551615s1000000000ns",
        "18446744073709551615s1s",
        "5s0",
    ] {
        assert!(format!("cap={sum}").parse::<Overrides>().is_err(), "{sum}");
    }
}

#[test]
fn later_layers_win_key_by_key() {
    let file: Overrides = "max=8, jitter=none, throttled(max=20, base=5s), timed_out(max=0)"
        .parse()
        .unwrap();
    let command_line: Overrides = "max=2, throttled(base=10s)".parse().unwrap();
    let layered = Policy::fixed(millis(250))
        .throttled(Section::new().jitter(Jitter::Equal))
        .overridden_by(&file)
        .and_then(|policy| policy.overridden_by(&command_line))
        .unwrap();
    let expected = Policy::fixed(millis(250))
        .max(2)
        .jitter(Jitter::None)
        .throttled(Section::new().jitter(Jitter::Equal).max(20).base(secs(10)))
        .timed_out(Section::new().max(0));
    assert_eq!(layered, expected);

    let same = Policy::new().overridden_by(&Overrides::default());
    assert_eq!(same, Ok(Policy::new()));
    // Each layer is fine alone, their combination is not.
    let low: Overrides = "throttled(cap=5s)".parse().unwrap();
    let error: PolicyError = expected.overridden_by(&low).unwrap_err();
    let expected = above("throttled.base = 10s", "throttled.cap = 5s");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_later_list_replaces_base_and_factor() {
    let list = Backoff::list(&[secs(1), Duration::from_mins(5)]);
    let named: Overrides = "backoff=[1s, 5m]".parse().unwrap();
    let built = Policy::fixed(secs(2)).factor(3.0);
    let expected = Policy::new().backoff(list);
    assert_eq!(built.overridden_by(&named), Ok(expected));

    let earlier: Overrides = "base=2s, factor=3".parse().unwrap();
    let layered = earlier.clone().overridden_by(&named);
    assert_rows! {
        Policy::new().overridden_by(&layered) => Ok(expected);
        Policy::new().overridden_by(&earlier).unwrap().overridden_by(&named) => Ok(expected);
    }

    // The other way round, the later layer names what has no effect.
    let based: Overrides = "base=2s".parse().unwrap();
    let layered = named.clone().overridden_by(&based);
    for refused in [
        expected.overridden_by(&based),
        Policy::new().overridden_by(&layered),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), no_effect("base"));
    }
    // With a shape, it has a base.
    let shaped: Overrides = "backoff=linear, base=2s".parse().unwrap();
    let linear = Policy::linear(secs(2));
    assert_eq!(expected.overridden_by(&shaped), Ok(linear));
    // A shape that follows brings back no `base` that the list ignored.
    let section = Section::new().backoff(list).base(secs(5));
    let fixed = section.backoff(Backoff::Fixed);
    assert_eq!(fixed, Section::new().backoff(Backoff::Fixed));
    // A section set by the program is not an error in the file.
    let sections = built.throttled(Section::new().base(secs(5)));
    assert!(sections.overridden_by(&named).is_ok());
}

#[test]
fn setters_are_checked_on_request() {
    let (second, minute) = (secs(1), Duration::from_mins(1));
    let ratio = |ratio| Section::new().jitter(Jitter::Ratio(ratio));
    let list = Policy::new().backoff(Backoff::List(&LIST));
    for (policy, expected) in rows! {
        Policy::fixed(minute), above("base = 1m", "cap = 30s");
        Policy::new().floor(minute), above("floor = 1m", "cap = 30s");
        Policy::new().timed_out(Section::new().cap(Duration::ZERO)),
            above("base = 1s", "timed_out.cap = 0s");
        Policy::new().factor(f64::NAN).factor(f64::INFINITY),
            String::from("`factor` was out of range: it takes a number from 1 up");
        Policy::new().throttled(ratio(f64::INFINITY)).throttled(Section::new().base(second)),
            String::from("`throttled.jitter` was out of range: it takes a ratio from 0 to 1");
        Policy::new().deadline(Duration::ZERO),
            String::from("`deadline` was out of range: it takes a duration above zero");
        list.base(second).max(9), no_effect("base");
        list.throttled(Section::new().factor(3.0)), no_effect("throttled.factor");
        Policy::new().transient(Section::new().backoff(Backoff::List(&LIST)).base(second)),
            no_effect("transient.base");
    } {
        let refused = policy.try_checked().map_err(|error| error.to_string());
        assert_eq!(refused, Err(expected));
    }
    // Corrected values, and settings that a list doesn't have.
    for policy in [
        Policy::new().factor(0.5).factor(1.5),
        Policy::new()
            .transient(ratio(2.0))
            .transient(Section::new().jitter(Jitter::Full)),
        Policy::fixed(minute).cap(minute),
        Policy::new().base(minute).backoff(Backoff::List(&LIST)),
        Policy::new().factor(0.5).backoff(Backoff::List(&LIST)),
        Policy::new().invalid(Section::new().base(second).backoff(Backoff::List(&LIST))),
        list.base(second).backoff(Backoff::List(&LIST)),
        list.base(second).backoff(Backoff::Fixed).base(second),
        list.throttled(Section::new().backoff(Backoff::Linear).base(second)),
        Policy::new().backoff(Backoff::List(&EMPTY)).base(second),
    ] {
        assert_eq!(policy.try_checked(), Ok(policy));
    }
    // Without the check, the list is kept.
    assert_eq!(list.base(second).factor(9.0), list);
}

const LIST: &[Duration] = &[Duration::from_mins(5)];
const EMPTY: &[Duration] = &[];
