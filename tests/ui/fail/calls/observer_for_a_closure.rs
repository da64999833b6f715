use retry_runtime::observers::Stats;
use retry_runtime::Policy;

static STATS: Stats = Stats::new();

fn main() {
    let _ = Policy::new().observe(&STATS);
}
