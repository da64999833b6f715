//! Retried functions whose attempts have the outcomes of a script.

use crate::failure::{Failure, TRANSIENT};

/// The outcomes of a call's attempts, in order. Counts the attempts.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The failures of the first attempts.
    pub steps: Vec<Failure>,
    /// The attempts so far.
    pub attempts: usize,
}

impl Script {
    /// Creates a script with these failures.
    pub fn new(steps: impl IntoIterator<Item = Failure>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            attempts: 0,
        }
    }

    /// Creates a script with more failures than any limit allows.
    pub fn failing() -> Self {
        Self::new(vec![TRANSIENT; 1_000])
    }

    /// The next failure, or the number of the attempt once there is none.
    #[expect(
        clippy::should_implement_trait,
        reason = "a script has no last outcome"
    )]
    pub fn next(&mut self) -> Result<usize, Failure> {
        self.attempts += 1;
        match self.steps.get(self.attempts - 1) {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.attempts),
        }
    }
}

/// Retried functions. The outcomes of their attempts are those of a script, which is the last argument, or else the
/// expression after `=`, by default of type `Result<(), Failure>`.
#[macro_export]
macro_rules! scripted {
    () => {};
    ($(#[$key:meta])* async fn $name:ident($($arg:ident: $type:ty),*); $($more:tt)*) => {
        $crate::scripted! {
            $(#[$key])*
            async fn $name($($arg: $type,)* script: &mut $crate::script::Script)
                -> Result<usize, $crate::failure::Failure> = script.next();
            $($more)*
        }
    };
    ($(#[$key:meta])* fn $name:ident($($arg:ident: $type:ty),*); $($more:tt)*) => {
        $crate::scripted! {
            $(#[$key])*
            fn $name($($arg: $type,)* script: &mut $crate::script::Script)
                -> Result<usize, $crate::failure::Failure> = script.next();
            $($more)*
        }
    };
    ($(#[$key:meta])* async fn $name:ident($($args:tt)*) = $outcome:expr; $($more:tt)*) => {
        $crate::scripted! {
            $(#[$key])*
            async fn $name($($args)*) -> Result<(), $crate::failure::Failure> = $outcome;
            $($more)*
        }
    };
    ($(#[$key:meta])* fn $name:ident($($args:tt)*) = $outcome:expr; $($more:tt)*) => {
        $crate::scripted! {
            $(#[$key])*
            fn $name($($args)*) -> Result<(), $crate::failure::Failure> = $outcome;
            $($more)*
        }
    };
    ($(#[$key:meta])* async fn $name:ident($($args:tt)*) -> $type:ty = $outcome:expr; $($more:tt)*) => {
        $(#[$key])*
        async fn $name($($args)*) -> $type {
            $outcome
        }
        $crate::scripted! { $($more)* }
    };
    ($(#[$key:meta])* fn $name:ident($($args:tt)*) -> $type:ty = $outcome:expr; $($more:tt)*) => {
        $(#[$key])*
        fn $name($($args)*) -> $type {
            $outcome
        }
        $crate::scripted! { $($more)* }
    };
}

/// The outcome of a call with a script of these failures, and the number of its attempts.
#[macro_export]
macro_rules! run {
    ($steps:expr, |$script:ident| $call:expr) => {{
        let mut script = $crate::script::Script::new($steps);
        let $script = &mut script;
        let outcome = $call;
        (outcome, script.attempts)
    }};
}
