//! The saved state of a plan.

use proptest::prelude::*;
use retry_work::plan::PlanState;
use support::prelude::*;

use super::{fuzz, texts};

const PIECES: &str = "{|}|[|]|\"|:|,|\"a\"|\"b\"|\"e\"|null|-1|4294967296|18446744073709551616|\"version\":|\
    \"completed\":|\"failed\":|\"dead_ends\":|\"executions\":";

const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &["a"])];

#[test]
fn states_of_plans() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let plan = || {
        let mut plan = Plan::local();
        for (name, after) in CHAIN {
            plan.add(*name, after.to_vec(), async |_: Vec<Arc<String>>| {
                Err::<String, _>(String::from("busy"))
            });
        }
        plan
    };
    let texts = texts(include_str!("corpus/plan_states.txt"), PIECES);
    fuzz(texts, |text| {
        let Ok(state) = serde_json::from_str::<PlanState<String>>(&text) else {
            return Ok(());
        };
        let mut loaded = plan();
        if loaded.load(state).is_err() {
            // Nothing was loaded.
            prop_assert_eq!(loaded.summary(), plan().summary(), "{}", text);
            return Ok(());
        }
        let saved = serde_json::to_string(&loaded.state()).unwrap();
        let mut again = plan();
        again.load(serde_json::from_str(&saved).unwrap()).unwrap();
        prop_assert_eq!(again.summary(), loaded.summary(), "{}", text);
        runtime.block_on(loaded.retry_failed()).unwrap();
        Ok(())
    });
}
