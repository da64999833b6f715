use retry_runtime::retrying;

fn complete() -> Result<u32, std::io::Error> {
    retrying!(timeout = "1s", validate = async |value| check(value), { ask() })
}

fn main() {}
