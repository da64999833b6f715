//! Tests that the diagrams in `docs` are up to date.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn pictures_are_drawn_again_after_a_change() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let files = [
        "docs/delays.svg",
        "docs/call.svg",
        "retry-runtime/src/guide/pictures.md",
    ];
    for file in files {
        fs::create_dir_all(folder.join(file).with_file_name("")).expect("a folder");
    }
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let run = lab.arg("pictures").arg(folder).status().expect("it runs");
    assert!(run.success());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in files {
        let [drawn, committed] = [folder, &root].map(|place| fs::read(place.join(file)).ok());
        assert!(
            drawn.is_some() && drawn == committed,
            "{file}: `cargo run -p lab -- pictures`"
        );
    }
}
