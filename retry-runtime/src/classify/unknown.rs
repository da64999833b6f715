use crate::classify::verdict::Verdict;

/// What an error says of itself, for a call that names no `on`.
pub fn ask(classify: impl FnOnce() -> Verdict) -> Verdict {
    classify()
}
