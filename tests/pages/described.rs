//! Chains, batches and plans log the text of `Classify::describe`: by default only the type's name.

use std::path::Path;

use crate::{root, sources};

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
        for (path, text) in sources(&root().join(krate).join("src")) {
            look_at(&path, &text, &mut described, &mut silent);
        }
    }
    assert!(
        silent.is_empty(),
        "only the type's name is logged: {silent:#?}"
    );
    assert!(described > 20, "{described} impls");
}

fn look_at(path: &Path, text: &str, described: &mut usize, silent: &mut Vec<String>) {
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
