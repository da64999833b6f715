//! What the messages of model APIs say that no code does.

use core::time::Duration;

use retry_vocabulary::duration;

use super::Fault;
use crate::classify::verdict::LONGEST_HINT;

/// Of prompts that are too long, in small letters.
const TOO_LONG: [&str; 10] = [
    // OpenAI's, copied by vLLM, DeepSeek, Mistral and OpenRouter.
    "maximum context length",
    "reduce the length of the messages",
    // OpenAI's Responses API.
    "exceeds the context window",
    // Anthropic
    "prompt is too long",
    "exceed context limit",
    // Gemini
    "exceeds the maximum number of tokens",
    // xAI
    "maximum prompt length",
    // Bedrock
    "input is too long",
    // llama.cpp
    "available context size",
    TOO_LARGE,
];

/// What OpenAI says in a 429 if one request asks for more than a minute's limit.
const TOO_LARGE: &str = "must be reduced in order to run";

/// Of what was blocked, in small letters.
const FILTERED: [&str; 5] = [
    // OpenAI
    "violating our usage policy",
    "result of our safety system",
    // Azure
    "content management policy",
    // Anthropic
    "content filtering policy",
    // DeepSeek
    "content exists risk",
];

/// What stands before a wait, in small letters.
const BEFORE_A_WAIT: [&str; 3] = ["try again in ", "retry in ", "retry after "];

/// The fault that the message tells, where the error's type and code say only that the request is wrong, or nothing.
pub(super) fn refined(fault: Fault, message: &str) -> Fault {
    let says = |texts: &[&str]| {
        let message = message.to_ascii_lowercase();
        texts.iter().any(|text| message.contains(text))
    };
    match fault {
        Fault::Throttled if says(&[TOO_LARGE]) => Fault::TooLong,
        Fault::Invalid | Fault::Unknown if says(&TOO_LONG) => Fault::TooLong,
        Fault::Invalid | Fault::Unknown if says(&FILTERED) => Fault::Filtered,
        fault => fault,
    }
}

/// The wait that it asks for: `try again in 6m0s`, `retry after 26 seconds`.
pub(super) fn wait(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    let after = BEFORE_A_WAIT.iter().find_map(|before| {
        let start = message.find(before)? + before.len();
        Some(&message[start..])
    })?;
    let mut wait = String::new();
    let mut rest = after.trim_start();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic());
        wait.push_str(number);
        wait.push_str(short(unit));
        rest = after.trim_start();
    }
    duration::parse(&wait)
        .ok()
        .filter(|wait| *wait <= LONGEST_HINT)
}

fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// A unit as it is written in durations.
fn short(unit: &str) -> &str {
    match unit {
        "milliseconds" | "millisecond" => "ms",
        "seconds" | "second" | "secs" | "sec" => "s",
        "minutes" | "minute" | "mins" | "min" => "m",
        "hours" | "hour" => "h",
        "days" | "day" => "d",
        unit => unit,
    }
}
