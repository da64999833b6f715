//! A value that is validated: the body runs again with the complaint at hand.

#[retry(validate = check, attempt = attempt, give_up = explain)]
fn extract(text: &str) -> Result<Answer, ModelError> {
    ask(text, attempt.last_error())
}
