//! A value that is validated: the body runs again, and can read the error.

#[retry(validate = check, attempt = attempt, give_up = explain)]
fn extract(text: &str) -> Result<Answer, ModelError> {
    ask(text, attempt.last_error())
}
