//! Tests every key with every other key, in every form. `tests/expand/pairs.txt` lists the pairs that are rejected,
//! with their messages, because one key disables or excludes the other. All other pairs are accepted.
//!
//! `UPDATE_EXPECT=1 cargo test -p retry-macros --features stream` updates it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use proc_macro2::TokenStream;
use quote::quote;
use retry_vocabulary::key::{Key, KeyScope};

use super::cases::in_parallel;
use super::refusals;

/// The keys, each with a value. A key is listed several times if its values disable different keys.
const KEYS: [&str; 66] = [
    "max = 5",
    "max = 0",
    r#"backoff = "exp""#,
    r#"backoff = "fixed""#,
    r#"backoff = "none""#,
    r#"backoff = ["1s", "5s"]"#,
    "backoff = |retry| waits(retry)",
    r#"base = "2s""#,
    r#"base = "100ms""#,
    "factor = 3",
    r#"cap = "10s""#,
    r#"floor = "1500ms""#,
    r#"jitter = "none""#,
    r#"jitter = "decorrelated""#,
    "jitter = 0.2",
    "on = classify",
    "until = accepts",
    r#"hint = "clamp""#,
    r#"hint = "ignore""#,
    r#"max_hint = "1m""#,
    r#"timeout = "3s""#,
    r#"deadline = "3s""#,
    r#"total_timeout = "3s""#,
    r#"total_delay = "3s""#,
    "enabled = false",
    "idempotent = false",
    "idempotent = self.is_safe",
    "transient(max = 5)",
    "throttled(max = 5)",
    r#"throttled(backoff = "fixed")"#,
    "timed_out(max = 5)",
    "timed_out(max = 0)",
    "invalid(max = 5)",
    "rejected(max = 5)",
    "attempt = attempt",
    "clone(request)",
    "validate = check",
    "correct = repair",
    "before_pause = show",
    "before_retry = refresh",
    "give_up = shape",
    "fallback = other",
    "repeats = 2",
    "repeats = 7",
    "budget",
    "breaker = &self.breaker",
    "limiter = &self.limiter",
    r#"hedge = "200ms""#,
    r#"hedge = "4s""#,
    "cancel = self.stop()",
    "abort = self.stop()",
    "observe = self.observer",
    "show = fmt::Display::fmt",
    "span = true",
    "policy = self.policy",
    r#"name = "call""#,
    "timer = self.timer",
    r#"stream = "first""#,
    r#"stream = "resume""#,
    "first = counts",
    r#"idle_timeout = "3s""#,
    "crate = ours",
    "wrapper = Retrying",
    "of = theirs::Model",
    "forward = [Box]",
    "body",
];

/// Builds a program with the keys `outer` and `inner` and a method that returns `returned`. The keys are on one
/// attribute or, if the method has its own, on both. Built from tokens, because lexing each program would take most of
/// the time.
type Form = fn(outer: &TokenStream, inner: &TokenStream, returned: &TokenStream) -> TokenStream;

const FORMS: [(&str, Form); 4] = [
    ("method", |outer, inner, returned| {
        quote! {
            impl Client {
                #[retry(#outer, #inner)]
                fn call(&self, request: Request) -> #returned { it() }
            }
        }
    }),
    ("retrying!", |outer, inner, _| {
        quote! { fn main() { retrying!(#outer, #inner, async { Ok::<u32, Error>(1) }) } }
    }),
    ("trait", |outer, inner, returned| {
        quote! {
            #[retry(wrapper = Retrying, #outer, #inner)]
            trait Model {
                fn call(&self, request: Request) -> #returned;
            }
        }
    }),
    (BLOCK_AND_METHOD, |outer, inner, returned| {
        quote! {
            #[retry(#outer)]
            impl Client {
                #[retry(#inner)]
                fn call(&self, request: Request) -> #returned { it() }
            }
        }
    }),
];

/// The only form in which the order matters: the first key is on the block, the second on the method.
const BLOCK_AND_METHOD: &str = "block, method";

fn key(argument: &str) -> Key {
    let name = argument.split([' ', '(']).next().expect("a name");
    KeyScope::Attribute.find(name).expect("a key")
}

/// The index of a key that no other key excludes.
const NAME: usize = KEYS.len();

/// The parts of programs, for one thread.
struct Programs {
    /// Each key, and true if the function must return a stream.
    keys: Vec<(TokenStream, bool)>,
    future: TokenStream,
    stream: TokenStream,
}

impl Programs {
    fn new() -> Self {
        let lex = |text: &str| text.parse().expect("tokens");
        let keys = KEYS.iter().chain([&r#"name = "call""#]);
        Self {
            keys: keys
                .map(|key| (lex(key), key.starts_with("stream")))
                .collect(),
            future: lex("BoxFuture<'_, Result<u32, Error>>"),
            stream: lex("BoxStream<'_, Result<u32, Error>>"),
        }
    }

    /// The errors of a program with both of these keys, by their indices.
    fn errors_in_form(&self, form: usize, outer: usize, inner: usize) -> BTreeSet<String> {
        let [outer, inner] = [outer, inner].map(|key| &self.keys[key]);
        let returned = if outer.1 || inner.1 {
            &self.stream
        } else {
            &self.future
        };
        let (_, form) = FORMS[form];
        refusals::messages(form(&outer.0, &inner.0, returned))
    }
}

#[test]
fn pairs_are_refused_with_the_reason() {
    for key in KeyScope::Attribute.keys() {
        let is_listed = KEYS.iter().any(|argument| self::key(argument) == key);
        assert!(is_listed, "`{key}` is missing");
    }
    let rows: Vec<_> = (0..FORMS.len())
        .flat_map(|form| (0..KEYS.len()).map(move |key| (form, key)))
        .collect();
    let alone = in_parallel(&rows, |&(form, key)| {
        let programs = Programs::new();
        &programs.errors_in_form(form, key, NAME) | &programs.errors_in_form(form, NAME, key)
    });
    let alone = |form: usize, key: usize| &alone[form * KEYS.len() + key];
    let refused = in_parallel(&rows, |&(form, outer)| {
        let programs = Programs::new();
        let from = if FORMS[form].0 == BLOCK_AND_METHOD {
            0
        } else {
            outer
        };
        let others = (from..KEYS.len()).filter(|inner| key(KEYS[outer]) != key(KEYS[*inner]));
        let pairs = others.flat_map(|inner| {
            let each = alone(form, outer) | alone(form, inner);
            let both = &programs.errors_in_form(form, outer, inner) - &each;
            both.into_iter()
                .map(move |message| ((outer, inner), message))
        });
        pairs.collect::<Vec<_>>()
    });
    let mut table = BTreeMap::<_, BTreeMap<String, Vec<&str>>>::new();
    for ((form, _), refused) in rows.iter().zip(refused) {
        for (pair, message) in refused {
            let row = table.entry(pair).or_default();
            row.entry(message).or_default().push(FORMS[*form].0);
        }
    }
    let mut text = String::new();
    for ((outer, inner), messages) in table {
        writeln!(text, "{}, {}", KEYS[outer], KEYS[inner]).expect("a string");
        for (message, forms) in messages {
            writeln!(text, "    {}: {message}", forms.join(", ")).expect("a string");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expand/pairs.txt");
    expect_file![path].assert_eq(&text);
}
