use std::error::Error;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

/// A stored failure that this program can't read, because its error type has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableError {
    /// The failure as it is stored, in JSON.
    pub kept: String,
    /// The reason why this program can't read it.
    pub reason: String,
}

impl fmt::Display for UnreadableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept, reason } = self;
        write!(
            f,
            "the call failed, and this program can't read the stored error ({reason}): {kept}"
        )
    }
}

impl Error for UnreadableError {}

/// Fails if the error can't be read back. An engine that checks by reading the result would not detect the failure,
/// because reading succeeds with an `UnreadableError`.
pub(crate) fn serialize<E, S>(
    error: &Result<E, UnreadableError>,
    serializer: S,
) -> Result<S::Ok, S::Error>
where
    E: Serialize + DeserializeOwned,
    S: Serializer,
{
    match error {
        Ok(error) => {
            if serializer.is_human_readable() {
                let json = serde_json::to_string(error).map_err(S::Error::custom)?;
                serde_json::from_str::<E>(&json).map_err(S::Error::custom)?;
            }
            error.serialize(serializer)
        }
        Err(unreadable) => {
            let kept = RawValue::from_string(unreadable.kept.clone());
            kept.map_err(S::Error::custom)?.serialize(serializer)
        }
    }
}

/// Reads an error, or keeps its JSON if it can't be read. A format that is not human-readable can't be read without the
/// type.
pub(crate) fn deserialize<'de, E, D>(
    deserializer: D,
) -> Result<Result<E, UnreadableError>, D::Error>
where
    E: DeserializeOwned,
    D: Deserializer<'de>,
{
    if !deserializer.is_human_readable() {
        return E::deserialize(deserializer).map(Ok);
    }
    let kept = Box::<RawValue>::deserialize(deserializer)?;
    Ok(
        serde_json::from_str(kept.get()).map_err(|error| UnreadableError {
            kept: kept.get().to_owned(),
            reason: error.to_string(),
        }),
    )
}
