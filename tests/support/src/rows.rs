//! Tables of test cases.

/// An array of tuples, written as a table: the cells of a row are separated by commas, and a semicolon ends the row.
/// rustfmt keeps a row in its line.
#[macro_export]
macro_rules! rows {
    ($($($cell:expr),+;)*) => {
        [$(($($cell),+)),*]
    };
}

/// Asserts that each value equals the one after `=>`. A failure shows the code of the value.
#[macro_export]
macro_rules! assert_rows {
    ($($actual:expr => $expected:expr;)*) => {
        $(assert_eq!($actual, $expected, "{}", stringify!($actual));)*
    };
}
