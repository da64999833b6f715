use retry_runtime::plan::Validity;
use retry_runtime::{Plan, Policy};

fn main() {
    let mut plan = Plan::<u32, String>::new();
    plan.add("a", [], async |[]| Ok(1));
    let _ = plan.run_until(Policy::new(), async |_| Validity::Valid);
}
