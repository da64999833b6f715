//! A policy on the command line: one flag for all keys, and one for each key.

use core::fmt;
use core::marker::PhantomData;
use std::env;

use ::clap::error::ErrorKind;
use ::clap::parser::ValueSource;
use ::clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use retry_vocabulary::key::{Key, KeyScope, ValueType};
use retry_vocabulary::messages;

use crate::policy::{Overrides, Policy, PolicyError, Settings, short};

/// The names of the flags of [`PolicyArgs`], and the policy that the flags override. The program implements this trait.
pub trait PolicyFlags {
    /// The name of the flag for all keys at once, without its dashes, and the prefix of the other flags: `retry` gives
    /// `--retry` and `--retry-max`.
    const FLAG: &'static str = "retry";

    /// The name of the environment variable for all keys at once, and the prefix of the other variables: `APP_RETRY`
    /// gives `APP_RETRY` and `APP_RETRY_MAX`. If the name is empty, no variables are read. Any other variable that
    /// starts with `APP_RETRY_` is rejected, so that a misspelled key is not silently ignored.
    const ENV: &'static str;

    /// The program's own policy. `--help` shows its values as the defaults.
    const POLICY: Policy = Policy::new();
}

/// A policy as command line flags and environment variables, for `#[command(flatten)]`. Needs the feature `clap`.
///
/// There is a flag for all keys, `--retry "max=5, base=250ms"`, and one for each key, such as `--retry-max 5`. Each
/// flag also has an environment variable, with a prefix chosen by the program. The command line wins over the
/// environment, and within each, a key's own flag wins over the flag for all keys. A flag replaces its own variable
/// completely, as usual in clap: `--retry "cap=5s"` discards all of `APP_RETRY`. An empty value sets nothing.
///
/// ```
/// use clap::Parser;
/// use retry_runtime::configuration::{PolicyArgs, PolicyFlags};
/// use retry_runtime::Policy;
///
/// /// Fetches a page.
/// #[derive(Parser)]
/// struct Arguments {
///     url: String,
///     #[command(flatten)]
///     retry: PolicyArgs<Retries>,
/// }
///
/// struct Retries;
///
/// impl PolicyFlags for Retries {
///     const ENV: &'static str = "FETCH_RETRY"; // FETCH_RETRY_MAX, …
///     const POLICY: Policy = Policy::new().max(5);
/// }
///
/// let arguments = Arguments::try_parse_from([
///     "fetch", "http://localhost", "--retry", "cap=10s", "--retry-throttled", "max=9",
/// ])?;
/// assert_eq!(arguments.retry.policy()?, "max=5, cap=10s, throttled(max=9)".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If the program also has a configuration file, apply [`PolicyArgs::overrides`] to the file's policy. A [`Policy`] or
/// [`Overrides`] can also be an argument by itself: `#[arg(long, default_value = "")] retry: Overrides`.
pub struct PolicyArgs<F> {
    named: Overrides,
    flags: PhantomData<fn() -> F>,
}

impl<F: PolicyFlags> PolicyArgs<F> {
    /// The keys set by the command line and the environment.
    pub const fn overrides(&self) -> &Overrides {
        &self.named
    }

    /// Applies [`overrides`](Self::overrides) to [`PolicyFlags::POLICY`]. Fails if [`Policy::overridden_by`] does.
    pub fn policy(&self) -> Result<Policy, PolicyError> {
        F::POLICY.overridden_by(&self.named)
    }
}

impl<F> Clone for PolicyArgs<F> {
    fn clone(&self) -> Self {
        Self {
            named: self.named.clone(),
            flags: PhantomData,
        }
    }
}

impl<F> fmt::Debug for PolicyArgs<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PolicyArgs").field(&self.named).finish()
    }
}

impl<F: PolicyFlags> Args for PolicyArgs<F> {
    fn augment_args(command: Command) -> Command {
        let defaults = F::POLICY.all_in_force();
        let all = arg::<F>(None)
            .value_name("KEYS")
            .help("Retries, all keys at once, as in \"max=5, base=250ms\"");
        let args = KeyScope::Policy.keys().map(|key| {
            let arg = arg::<F>(Some(key)).value_name(value_name(key));
            // The text is Markdown; in the terminal, omit the backticks.
            let arg = arg.help(key.description().replace('`', ""));
            match defaults.get(key) {
                Some(default) => arg.default_value(default.to_string()),
                None => arg,
            }
        });
        command.arg(all).args(args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<F: PolicyFlags> FromArgMatches for PolicyArgs<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ::clap::Error> {
        let (named, flags) = (Overrides::new(), PhantomData);
        let mut args = Self { named, flags };
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ::clap::Error> {
        if let Some(message) = unknown_variable::<F>() {
            let kind = ErrorKind::UnknownArgument;
            return Err(::clap::Error::raw(kind, format!("{message}\n")));
        }
        for source in [ValueSource::EnvVariable, ValueSource::CommandLine] {
            for key in [None].into_iter().chain(KeyScope::Policy.keys().map(Some)) {
                let flag = flag::<F>(key);
                let given = matches.try_get_one::<Overrides>(&flag).ok().flatten();
                if let Some(given) = given.filter(|_| matches.value_source(&flag) == Some(source)) {
                    self.named = core::mem::take(&mut self.named).overridden_by(given);
                }
            }
        }
        Ok(())
    }
}

/// The argument for one key, or for all keys if `None`.
fn arg<F: PolicyFlags>(key: Option<Key>) -> Arg {
    let arg = Arg::new(flag::<F>(key))
        .long(flag::<F>(key))
        .help_heading("Retries")
        .value_parser(move |text: &str| match key {
            _ if text.trim().is_empty() => Ok(Overrides::new()),
            Some(key) => format!("{key}({text})").parse(),
            None => text.parse(),
        });
    match (F::ENV, key) {
        ("", _) => arg,
        (env, None) => arg.env(env),
        (env, Some(key)) => arg.env(format!("{env}_{}", key.name().to_uppercase())),
    }
}

/// The error for an environment variable that has the prefix, but no known key after it.
fn unknown_variable<F: PolicyFlags>() -> Option<String> {
    let prefix = Some(F::ENV).filter(|env| !env.is_empty())?;
    env::vars_os().find_map(|(variable, _)| {
        let variable = variable.to_str()?;
        let name = variable.strip_prefix(prefix)?.strip_prefix('_')?;
        let mut keys = KeyScope::Policy.keys();
        if keys.any(|key| key.name().to_uppercase() == name) {
            return None;
        }
        let message = messages::unknown_key(name, "", KeyScope::Policy);
        let variable = short(variable);
        Some(format!("environment variable `{variable}`: {message}"))
    })
}

/// The name of the flag for one key, or for all keys if `None`.
fn flag<F: PolicyFlags>(key: Option<Key>) -> String {
    match key {
        Some(key) => format!("{}-{}", F::FLAG, key.name().replace('_', "-")),
        None => String::from(F::FLAG),
    }
}

fn value_name(key: Key) -> &'static str {
    match key.value_type() {
        ValueType::Count => "COUNT",
        ValueType::Factor => "NUMBER",
        ValueType::Backoff => "SHAPE",
        ValueType::Jitter => "JITTER",
        ValueType::Hint => "HINT",
        ValueType::Bool => "BOOL",
        ValueType::Section => "KEYS",
        _ => "DURATION",
    }
}
