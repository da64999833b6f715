//! `cancel` takes what says when.

#[retry(cancel, on = |_| true)]
async fn nothing() -> Result<(), String> {
    Ok(())
}

#[retry(cancel = true, on = |_| true)]
fn literal() -> Result<(), String> {
    Ok(())
}
