use std::collections::BTreeMap;

use retry_runtime::{Policies, Policy};

#[test]
fn yaml_has_the_keys_of_the_text_and_names_policies() {
    let text = "max=5, backoff=[1s, 5s], jitter=0.2, floor=100ms, enabled=false, throttled(max=10, base=5s, backoff=exp)";
    let policy: Policy = text.parse().unwrap();
    let yaml = "
max: 5
backoff: [1s, 5s]
jitter: 0.2
floor: 100ms
enabled: false
throttled:
  max: 10
  base: 5s
  backoff: exp
";
    assert_eq!(serde_saphyr::from_str::<Policy>(yaml).unwrap(), policy);
    let written = serde_saphyr::to_string(&policy).unwrap();
    let read: Policy = serde_saphyr::from_str(&written).unwrap();
    assert_eq!(read, policy, "{written}");

    let yaml = "
default: { max: 2 }
anthropic.complete:
  throttled: { max: 10 }
";
    let policies: Policies = serde_saphyr::from_str(yaml).unwrap();
    assert_eq!(policies.find("redis.get"), Policy::new().max(2));
    let expected = "max=2, throttled(max=10)".parse().unwrap();
    assert_eq!(policies.find("anthropic.complete"), expected);
}

#[test]
fn an_error_points_at_its_line() {
    for (yaml, at, message) in [
        (
            "retry:\n  max: 5\n  base: 250\n",
            "line 3 column 9",
            "`base = 250` has no unit: write `\"250s\"` for seconds, or `ms`, `m`, `h`",
        ),
        (
            "retry:\n  maxAttempts: 5\n",
            "line 2",
            "unknown key `maxAttempts`: use `max`, which counts retries, not attempts: write `max = 4`",
        ),
        (
            "retry:\n  throttled:\n    max: 3\n    factor: 0\n",
            "line 4",
            "`throttled.factor = 0` is out of range: it takes a number from 1 up",
        ),
        (
            "retry:\n  hint: yes\n",
            "line 2",
            "unknown word `true` for `hint`: did you mean `honor`? The words are honor, clamp, exact, ignore",
        ),
    ] {
        let error = serde_saphyr::from_str::<BTreeMap<String, Policy>>(yaml).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(at) && error.contains(message),
            "{yaml}: {error}"
        );
    }
}
