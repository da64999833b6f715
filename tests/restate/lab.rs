//! A Restate server and services, each a process that can be killed.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Notes;

/// Killed when it is dropped.
struct Process(Child);

impl Process {
    /// Appends the process's output to this file.
    fn start(command: &mut Command, output: &Path) -> Self {
        let mut options = File::options();
        let output = options.append(true).create(true).open(output).unwrap();
        let command = command.stdout(output.try_clone().unwrap()).stderr(output);
        Self(command.spawn().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn free_port() -> u16 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/free_port");
    let output = Command::new(script).output().unwrap();
    let port = String::from_utf8(output.stdout).unwrap();
    port.trim().parse().unwrap()
}

/// Waits until it is so, and fails after a while.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// A server that hands an invocation back to a service as soon as that is up again, and takes it away in each pause.
pub(crate) struct Lab {
    directory: TempDir,
    server: Option<Process>,
    admin: u16,
    ingress: u16,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [node, admin, ingress] = [(); 3].map(|()| free_port());
        let settings = format!(
            r#"
disable-telemetry = true
default-num-partitions = 1
listen-mode = "tcp"
bind-address = "127.0.0.1:{node}"
rocksdb-total-memory-size = "128 MiB"
default-retry-policy = {{ initial-interval = "50ms", exponentiation-factor = 1.5, max-interval = "200ms" }}

[worker.invoker]
inactivity-timeout = "100ms"

[admin]
bind-address = "127.0.0.1:{admin}"
disable-web-ui = true

[ingress]
bind-address = "127.0.0.1:{ingress}"
"#
        );
        fs::write(directory.path().join("restate.toml"), settings).unwrap();
        let mut lab = Self {
            directory,
            server: None,
            admin,
            ingress,
        };
        lab.restart();
        lab
    }

    /// Kills the server, if it runs, and starts it on what it has stored.
    pub(crate) fn restart(&mut self) {
        self.server = None;
        let program = env::var_os("RESTATE_SERVER").expect("set by .ci/restate");
        let mut server = Command::new(program);
        let at = |name| self.directory.path().join(name);
        server.arg("--config-file").arg(at("restate.toml"));
        server.arg("--base-dir").arg(at("stored"));
        self.server = Some(Process::start(&mut server, &self.output()));
    }

    /// Returns the file with the output of the processes.
    fn output(&self) -> PathBuf {
        self.directory.path().join("output")
    }

    /// Returns true if a process has printed this text.
    pub(crate) fn log_contains(&self, text: &str) -> bool {
        let output = fs::read(self.output()).unwrap_or_default();
        String::from_utf8_lossy(&output).contains(text)
    }

    pub(crate) fn notes(&self) -> Notes {
        Notes(self.directory.path().to_owned())
    }

    /// Starts a process with these services, and registers it with the server.
    pub(crate) fn service(&self, services: &'static str) -> Service {
        let mut command = Command::new(env::current_exe().unwrap());
        let port = free_port();
        command
            .args(["--exact", "service"])
            .env("RESTATE_TEST_PORT", port.to_string())
            .env("RESTATE_TEST_NOTES", self.directory.path())
            .env("RESTATE_TEST_SERVICES", services);
        let output = self.output();
        let process = Some(Process::start(&mut command, &output));
        let service = Service {
            command,
            process,
            output,
        };
        let uri = format!(r#"{{"uri": "http://127.0.0.1:{port}"}}"#);
        until("the server knows the services", || {
            let answer = post(self.admin, "deployments", "registration", &uri);
            answer.is_ok_and(|(status, _)| status == 201)
        });
        service
    }

    /// Cancels the invocation whose start returned this response.
    pub(crate) fn cancel(&self, answer: &str) {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let invocation = answer["invocationId"].as_str().unwrap();
        let admin = self.admin;
        let url = format!("http://127.0.0.1:{admin}/invocations/{invocation}/cancel");
        ureq::patch(url).send_empty().unwrap();
    }

    /// Calls a handler, again if the connection breaks, and returns the status and the text of the response.
    pub(crate) fn call(&self, handler: &str, key: &str, input: &str) -> (u16, String) {
        let mut answer = None;
        until("an answer", || {
            answer = post(self.ingress, handler, key, &format!("{input:?}")).ok();
            answer.is_some()
        });
        answer.unwrap()
    }
}

/// Prints the last output of the processes if a test fails.
impl Drop for Lab {
    fn drop(&mut self) {
        if thread::panicking() {
            let output = fs::read(self.output()).unwrap_or_default();
            let output = String::from_utf8_lossy(&output);
            let lines: Vec<&str> = output.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            eprintln!("{}", last.join("\n"));
        }
    }
}

/// Services that can be killed.
pub(crate) struct Service {
    command: Command,
    process: Option<Process>,
    output: PathBuf,
}

impl Service {
    /// Kills them, and starts them at once.
    pub(crate) fn restart(&mut self) {
        self.process = None;
        self.process = Some(Process::start(&mut self.command, &self.output));
    }
}

fn post(port: u16, path: &str, key: &str, body: &str) -> Result<(u16, String), ureq::Error> {
    let request = ureq::post(format!("http://127.0.0.1:{port}/{path}"))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .config()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_mins(1)))
        .build();
    let mut response = request.send(body)?;
    let text = response.body_mut().read_to_string()?;
    Ok((response.status().as_u16(), text))
}
