//! A value that is validated: the body runs again with the message at hand.

#[retry(validate = check, attempt = attempt, give_up = explain)]
fn extract(text: &str) -> Result<Answer, ModelError> {
    ask(text, attempt.last_error())
}
