use retry_runtime::Classify;

#[derive(Classify)]
union ModelError {
    code: u32,
}

fn main() {}
