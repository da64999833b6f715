//! A blocking function with a value that is not yet good enough.

#[retry(until = |lines| !lines.is_empty())]
fn read(path: &Path) -> io::Result<Vec<String>> {
    fs::read_to_string(path).map(|text| text.lines().map(String::from).collect())
}
