//! Chains, batches and plans log the text of `Classify::describe`: by default only the type's name.

use std::fs;
use std::path::Path;

use crate::root;

#[test]
fn every_error_that_the_crates_classify_is_described() {
    let (mut described, mut silent) = (0, Vec::new());
    for krate in [
        "retry-classify",
        "retry-observers",
        "retry-protections",
        "retry-runtime",
        "retry-work",
        "retry-clients",
        "retry-durable",
    ] {
        look_at(&root().join(krate).join("src"), &mut described, &mut silent);
    }
    assert!(
        silent.is_empty(),
        "only the type's name is logged: {silent:#?}"
    );
    assert!(described > 20, "{described} impls");
}

fn look_at(path: &Path, described: &mut usize, silent: &mut Vec<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            look_at(&entry.expect("a file").path(), described, silent);
        }
        return;
    }
    let text = fs::read_to_string(path).expect("a source");
    // Includes indented impls in macros.
    let mut head: Option<&str> = None;
    for line in text.lines() {
        let code = line.trim_start();
        if code.starts_with("impl") && code.contains("Classify for ") {
            head = Some(line);
        } else if code.starts_with("fn describe(") || code == "describe_with_causes!();" {
            *described += usize::from(head.take().is_some());
        }
        let ends =
            |head: &str| line == format!("{}}}", &head[..head.len() - head.trim_start().len()]);
        if head.is_some_and(ends) {
            silent.extend(
                head.take()
                    .map(|head| format!("{}: {head}", path.display())),
            );
        }
    }
}
