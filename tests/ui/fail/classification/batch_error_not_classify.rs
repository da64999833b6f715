use retry_runtime::Policy;
use retry_work::retry_each;

fn main() {
    let _ = retry_each(&Policy::new(), [1, 2], async |numbers: Vec<u32>| {
        Ok::<_, String>(numbers.into_iter().map(Ok).collect())
    });
}
