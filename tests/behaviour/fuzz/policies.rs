//! Policies as text and as tables.

use proptest::prelude::*;
use retry_runtime::configuration::Overrides;
use retry_runtime::{Policies, Policy};

use super::{fuzz, texts};

const PIECES: &str = "max|backoff|throttled|invalid|=|==|(|)|[|]|{|}|\"|,|\n| |.|-|1|0|4294967295|1e400|NaN|\
    ms|s|w|µs|unlimited|exp|none|true|'";

#[test]
fn texts_of_policies() {
    fuzz(texts(include_str!("corpus/policies.txt"), PIECES), |text| {
        let Ok(named) = text.parse::<Overrides>() else {
            prop_assert!(text.parse::<Policy>().is_err(), "{}", text);
            return Ok(());
        };
        prop_assert_eq!(named.to_string().parse(), Ok(named), "{}", text);
        if let Ok(policy) = text.parse::<Policy>() {
            prop_assert_eq!(policy.to_string().parse(), Ok(policy), "{}", text);
        }
        Ok(())
    });
}

#[test]
fn tables_of_policies() {
    fuzz(texts(include_str!("corpus/tables.txt"), PIECES), |text| {
        let Ok(named) = toml::from_str::<Overrides>(&text) else {
            prop_assert!(toml::from_str::<Policy>(&text).is_err(), "{}", text);
            return Ok(());
        };
        prop_assert_eq!(&named.to_string().parse::<Overrides>(), &Ok(named.clone()));
        let printed = toml::to_string(&named).unwrap();
        prop_assert_eq!(toml::from_str::<Overrides>(&printed).unwrap(), named);
        Ok(())
    });
}

#[test]
fn tables_of_named_policies() {
    fuzz(texts(include_str!("corpus/tables.txt"), PIECES), |text| {
        let _ = toml::from_str::<Policies>(&text);
        // A layer has the same effect as an entry and over a policy.
        if let Ok(named) = toml::from_str::<Overrides>(&text)
            && let Ok(policy) = Policy::new().overridden_by(&named)
        {
            let policies = Policies::of([("redis", named)]).unwrap();
            prop_assert_eq!(policies.find("redis.get"), policy, "{}", text);
        }
        Ok(())
    });
}
