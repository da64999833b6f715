//! A trait and its decorator.

#[retry(wrapper = Retrying, max = 3)]
pub trait Model {
    async fn complete(&self, prompt: String, options: &Options) -> Result<Answer, ModelError>;

    fn name(&self) -> String;
}
