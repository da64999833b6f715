use retry_work::plan::Validity;
use retry_runtime::Policy;
use retry_work::Plan;

fn main() {
    let mut plan = Plan::<u32, String>::new();
    plan.add("a", [], async |[]| Ok(1));
    let _ = plan.run_until(Policy::new(), async |_| Validity::Valid);
}
