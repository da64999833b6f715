//! A blocking function that retries until it accepts the value.

#[retry(until = |lines| !lines.is_empty())]
fn read(path: &Path) -> io::Result<Vec<String>> {
    fs::read_to_string(path).map(|text| text.lines().map(String::from).collect())
}
