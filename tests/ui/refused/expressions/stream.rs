use futures::Stream;
use retry_runtime::retrying;

fn pages() {
    retrying!(stream = "first", async { list().await });
    retrying!(-> impl Stream<Item = Result<u32, String>> { list() });
}

fn main() {}
