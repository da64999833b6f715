//! The README's example, pasted into a new crate as a reader would do, and the programs in the crates' READMEs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::versions::series;
use crate::{block, pages, read, root};

/// The address in the example.
const ADDRESS: &str = "127.0.0.1:8000";

#[test]
fn the_example_runs_in_a_fresh_crate_and_logs_what_the_readme_shows() {
    let readme = read("README.md");
    let address = flaky_server();
    let program = paste(&readme, &address);
    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet"])
        .current_dir(&program)
        .env("CARGO_TARGET_DIR", target())
        .output()
        .expect("cargo runs");
    let [printed, complaints] =
        [run.stdout, run.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    assert!(run.status.success(), "{complaints}");
    // Warnings would be the first that a reader sees.
    assert_eq!(complaints, "");
    let printed = printed.replace(&address, ADDRESS);
    assert_eq!(shape(&printed), shape(&unfolded(block(&readme, "text"))));
}

/// Starts a server that fails as in the README, and returns its address.
fn flaky_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its number");
    let answers = [
        "503 Service Unavailable\r\ncontent-length: 0",
        "429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0",
        "200 OK\r\ncontent-length: 5",
    ];
    thread::spawn(move || {
        for answer in answers {
            let (mut connection, _) = listener.accept().expect("a client");
            let reader = BufReader::new(connection.try_clone().expect("the same connection"));
            let head = reader.lines().map(|line| line.expect("a line"));
            assert!(head.take_while(|line| !line.is_empty()).count() > 0);
            let body = if answer.starts_with("200") {
                "hello"
            } else {
                ""
            };
            write!(
                connection,
                "HTTP/1.1 {answer}\r\nconnection: close\r\n\r\n{body}"
            )
            .expect("the client reads");
        }
    });
    address.to_string()
}

/// `.ci/cookbook` compiles and runs the cookbook's copy, with the client.
#[test]
fn examples_with_clients_are_those_of_the_cookbook() {
    let recipes = read("docs/cookbook.md");
    let example = read("docs/cheat_sheet.md");
    let example = block(&example, "rust,ignore");
    assert!(example.contains("error_for_retry()"));
    assert!(recipes.contains(&format!("```rust\n{example}")));
    for krate in ["retry-clients", "retry-durable"] {
        let readme = read(&format!("{krate}/README.md"));
        for language in ["toml", "rust"] {
            let example = block(&readme, language);
            let copy = format!("```{language}\n{example}```");
            assert!(recipes.contains(&copy), "{krate}: {language}");
        }
    }
}

#[test]
fn the_install_section_names_every_feature() {
    let readme = read("README.md");
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = readme.split_once("On by default:").expect("what is on");
    let (on, rest) = rest.split_once("Off:").expect("what is off");
    let (off, _) = rest
        .split_once(", and a feature for each")
        .expect("clients");
    let quoted = |text: &str| -> BTreeSet<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };

    let manifest = read("retry-runtime/Cargo.toml");
    let (_, rest) = manifest.split_once("\n[features]\n").expect("features");
    let (table, _) = rest.split_once("\n[").expect("dependencies");
    let rows = table.lines().filter_map(|line| line.split_once(" = ["));
    let (default, features): (Vec<_>, Vec<_>) = rows.partition(|(name, _)| *name == "default");
    let default: BTreeSet<_> = default[0]
        .1
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    // A client's ends with the client's version.
    let is_of_client = |name: &str| name.ends_with(|last: char| last.is_ascii_digit());
    let (of_clients, others): (Vec<_>, Vec<_>) = features
        .iter()
        .map(|(name, _)| name.to_string())
        .partition(|name| is_of_client(name));
    let others: BTreeSet<_> = others.into_iter().collect();

    assert_eq!(quoted(on), default);
    assert_eq!(quoted(off), &others - &default);
    let guide: String = pages().iter().map(|page| read(page)).collect();
    for name in of_clients {
        assert!(guide.contains(&name), "{name}");
    }
}

/// Makes the crate, and returns its folder.
fn paste(readme: &str, address: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello");
    let runtime = root().join("retry-runtime");
    let published = format!("retry-runtime = {{ version = \"{}\"", series());
    let here = format!("retry-runtime = {{ path = '{}'", runtime.display());
    // Needs a C library, and only HTTPS needs it.
    let tls = ", features = [\"native-tls\"]";
    let dependencies = block(readme, "toml");
    assert!(dependencies.contains(&published) && dependencies.contains(tls));
    let manifest = format!(
        "[package]\nname = \"hello\"\nedition = \"2024\"\n\n[workspace]\n\n{}",
        dependencies.replace(&published, &here).replace(tls, ""),
    );
    let code = block(readme, "rust,ignore");
    assert!(code.contains("error_for_retry()") && code.contains(ADDRESS));
    fs::create_dir_all(program.join("src")).expect("a folder");
    fs::write(program.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(program.join("src/main.rs"), code.replace(ADDRESS, address)).expect("a program");
    // The dependencies that this workspace has downloaded.
    fs::copy(root().join("Cargo.lock"), program.join("Cargo.lock")).expect("a lock file");
    program
}

/// The target folder of this test: much is compiled there already.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a folder around it")
}

/// Returns records with one line each: in the README their second half is on an indented line.
fn unfolded(shown: &str) -> String {
    shown.replace("\n     ", " ")
}

/// The lines, without what chance decides.
fn shape(printed: &str) -> Vec<String> {
    let fields = |line: &str| {
        let mut before = "";
        let fields = line.split_whitespace().map(|field| {
            let shown = match field.split_once('=') {
                Some(("delay", _)) => "delay",
                _ if before == "in" => "delay",
                _ => field,
            };
            before = field;
            shown
        });
        fields.collect::<Vec<_>>().join(" ")
    };
    printed.lines().map(fields).collect()
}
