use retry_runtime::{retry, retrying};

#[retry(on = |_| true)]
async fn asynchronous(text: &str) -> Result<usize, String> {
    if text.len() == 0 { // reported
        return Err(format!("empty")); // reported
    }
    Ok(text.len())
}

#[retry(on = |_| true)]
fn blocking(words: &[u32]) -> Result<u32, String> {
    if words.len() == 0 { // reported
        return Err(String::new());
    }
    let first = words[0].clone(); // reported
    Ok(first)
}

#[retry(on = |_| true)]
fn future(words: &[u32]) -> impl Future<Output = Result<u32, String>> {
    async move {
        Ok(words[0].clone()) // reported
    }
}

struct Client;

#[retry(on = |_| true)]
impl Client {
    fn method(&self, words: &[u32]) -> Result<bool, String> {
        Ok(!(words.len() > 5)) // reported
    }
}

fn expression(words: &[u32]) -> Result<usize, String> {
    retrying!(on = |_| true, {
        if words.len() == 0 { // reported
            return Err(String::new());
        }
        Ok(words.len())
    })
}

// Clippy finds no `return` needless in what a macro made a block or a closure, early or at the end.
#[retry(on = |_| true)]
async fn returning(words: &[u32]) -> Result<bool, String> {
    return Ok(words.is_empty());
}

#[retry(on = |_| true)]
fn returning_early(words: &[u32]) -> Result<bool, String> {
    if words.is_empty() {
        return Err(String::new());
    }
    return Ok(true);
}

fn main() {
    drop((asynchronous(""), future(&[]), returning(&[])));
    let _ = (blocking(&[]), Client.method(&[]), expression(&[]), returning_early(&[]));
}
