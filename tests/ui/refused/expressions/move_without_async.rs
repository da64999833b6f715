use retry_runtime::retrying;

fn complete() -> Result<u32, std::io::Error> {
    retrying!(max = 5, move { ask() })
}

fn main() {}
