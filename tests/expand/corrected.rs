//! A value that is validated and corrected, paid for from a budget.

impl Extractor {
    #[retry(
        max = 3,
        invalid(max = 2),
        budget = &self.turns,
        validate = |answer| self.schema.check(answer),
        correct = async |draft, error| self.correct(draft, error).await
    )]
    async fn extract(&self, text: &str) -> Result<Answer, ModelError> {
        self.ask(text).await
    }
}
