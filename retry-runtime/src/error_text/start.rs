use alloc::string::String;
use core::fmt::{self, Write};

/// The start of a text, and how long the whole is. What is beyond the start is never in memory.
pub(crate) struct Start {
    pub(super) text: String,
    limit: usize,
    pub(super) total: usize,
    /// The word that the cut goes through has not ended.
    in_word: bool,
    /// Beyond the cut, that word has an `@`: what is before it may be a password.
    pub(super) user_follows: bool,
}

impl Start {
    pub(crate) fn of(text: &dyn fmt::Display, limit: usize) -> Self {
        let mut start = Self {
            text: String::new(),
            limit,
            total: 0,
            in_word: false,
            user_follows: false,
        };
        // A `Display` that fails has said what it could.
        let _ = write!(start, "{text}");
        start
    }

    /// The text, unless it is longer.
    pub(crate) fn whole(&self) -> Option<&str> {
        (self.total == self.text.len()).then_some(&self.text)
    }
}

impl Write for Start {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut beyond = piece;
        if self.total == self.text.len() {
            let mut room = piece.len().min(self.limit - self.text.len());
            while !piece.is_char_boundary(room) {
                room -= 1;
            }
            self.text.push_str(&piece[..room]);
            beyond = &piece[room..];
            self.in_word = !self.text.ends_with(char::is_whitespace);
        }
        self.total = self.total.saturating_add(piece.len());
        if self.in_word && !beyond.is_empty() {
            let end = beyond.find(char::is_whitespace);
            self.user_follows |= beyond[..end.unwrap_or(beyond.len())].contains('@');
            self.in_word = end.is_none();
        }
        Ok(())
    }
}
