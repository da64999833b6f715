use retry_runtime::retry;

#[retry(clone(request, kye, url, key, key))]
async fn send(request: Request, key: Key, url: &str) -> std::io::Result<()> {
    post(request, key, url).await
}

#[retry(clone)]
async fn without_names(request: Request) -> std::io::Result<()> {
    post(request).await
}

#[retry(clone())]
async fn of_none(request: Request) -> std::io::Result<()> {
    post(request).await
}

#[retry(clone(request.body))]
async fn of_a_field(request: Request) -> std::io::Result<()> {
    post(request).await
}

#[retry(clone(request))]
impl Client {
    async fn send(&self, request: Request) -> std::io::Result<()> {
        self.post(request).await
    }
}

#[retry(wrapper = Retrying)]
trait Model {
    #[retry(clone(prompt))]
    async fn ask(&self, prompt: String) -> std::io::Result<String>;
}

fn main() {}
