//! The settings, from four sources: this file, a configuration file, the environment and the command line. Later
//! sources override earlier ones, key by key.

use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::future;
use std::path::Path;
use std::time::Duration;

use retry_runtime::configuration::Overrides;
use retry_runtime::{Jitter, Policy, PolicyError, SharedPolicy};
use serde::{Deserialize, Deserializer, de};

/// The settings of the client.
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    pub(crate) timeout: Duration,
}

impl Settings {
    /// 5 retries, after 1, 2, 4, 8 and 16 s, with a limit of 60 s for each attempt.
    ///
    /// Without jitter, so that a run of this single process takes exactly 31 s and its log is predictable. If many
    /// processes share a server, set `jitter = "full"` in the file, so that they don't all retry at the same time.
    pub(crate) const fn new() -> Self {
        Self {
            policy: Policy::new()
                .max(5)
                .base(Duration::from_secs(1))
                .factor(2.0)
                .jitter(Jitter::None),
            timeout: Duration::from_mins(1),
        }
    }

    pub(crate) fn overridden_by(self, layer: &Layer) -> Result<Self, PolicyError> {
        Ok(Self {
            policy: self.policy.overridden_by(&layer.retry)?,
            timeout: layer.timeout.unwrap_or(self.timeout),
        })
    }
}

/// The settings from one source. Missing keys override nothing.
///
/// ```toml
/// timeout = "180s"
///
/// [retry]
/// max = 10
/// jitter = "full"
/// throttled = { max = 20 }
/// ```
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Layer {
    #[serde(deserialize_with = "timeout")]
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: Overrides,
}

impl Layer {
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }
}

/// Replaces the policy with the result of `read` whenever the file changes. Keeps the policy if `read` fails.
pub(crate) async fn watch(
    file: Option<&Path>,
    read: impl Fn() -> Result<Settings, String>,
    policy: &SharedPolicy,
    tell: impl Fn(&str),
) -> Infallible {
    let Some(file) = file else {
        return future::pending().await;
    };
    let modified = || fs::metadata(file).and_then(|file| file.modified()).ok();
    let mut seen = modified();
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let last = modified();
        if last == seen {
            continue;
        }
        seen = last;
        match read() {
            Ok(settings) => {
                policy.store(settings.policy);
                tell(&format!("{}: {}", file.display(), settings.policy));
            }
            Err(error) => tell(&error),
        }
    }
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_timeout(&text).map(Some).map_err(de::Error::custom)
}

pub(crate) fn parse_timeout(text: &str) -> Result<Duration, String> {
    let timeout = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if timeout.is_zero() {
        return Err(String::from("no attempt can end within 0s"));
    }
    Ok(timeout)
}
