//! The errors of model APIs, in bodies and in event streams.

use http::{HeaderMap, StatusCode};
use proptest::prelude::*;
use retry_runtime::llm::ProviderError;
use retry_runtime::{Classify, ResponseError};

use super::{fuzz, texts};

const PIECES: &str = "{|}|[|]|\"|:|,|\\|\n|\n\n|data:|event: error|event:|\"error\":|\"code\":|\"details\":|\
    \"message\":|\"retryDelay\":\"9e99s\"|null|true|1e999|-1|429|\u{feff}|[[[[[[[[|\
    {\"error\":{\"error\":";

#[test]
fn bodies_and_events() {
    let texts = texts(include_str!("corpus/model_errors.txt"), PIECES);
    fuzz((texts, 100..1000_u16), |(text, status)| {
        if let Some(error) = ProviderError::parse(&text) {
            error.classify();
            prop_assert_eq!(ProviderError::parse(&text), Some(error), "{}", text);
        }
        let status = StatusCode::from_u16(status).unwrap();
        ResponseError::new(status, HeaderMap::new(), text).classify();
        Ok(())
    });
}

#[test]
fn texts_cut_off_anywhere() {
    let texts = texts(include_str!("corpus/model_errors.txt"), PIECES);
    fuzz((texts, any::<prop::sample::Index>()), |(text, end)| {
        let end = text.floor_char_boundary(end.index(text.len() + 1));
        if let Some(error) = ProviderError::parse(&text[..end]) {
            error.classify();
        }
        Ok(())
    });
}
