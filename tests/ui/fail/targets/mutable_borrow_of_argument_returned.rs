use retry_runtime::retry;

#[retry(on = |_| true)]
async fn first(slots: &mut Vec<u32>) -> Result<&mut u32, String> {
    slots.first_mut().ok_or_else(String::new)
}

fn main() {}
