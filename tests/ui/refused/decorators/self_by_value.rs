use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Session {
    fn close(self) -> Result<(), String>;

    async fn finish(self, code: u32) -> Result<(), String>;
}

struct Connection;

impl Session for Connection {
    fn close(self) -> Result<(), String> {
        Ok(())
    }

    async fn finish(self, _: u32) -> Result<(), String> {
        Ok(())
    }
}

fn main() {
    let _ = Connection.close();
    let _ = Connection.finish(0);
}
