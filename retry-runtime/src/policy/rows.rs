//! The numbers of a policy and its sections, as a policy stores them: a column for each key, with one row for the
//! policy itself and one for each kind of failure. Stored as sections, they would take three times the space.

use core::num::NonZeroU64;
use core::time::Duration;

use retry_vocabulary::range;
use retry_vocabulary::word::Backoff as Shape;

use crate::classify::kind::Kind;
use crate::policy::backoff::Backoff;
use crate::policy::jitter::Jitter;
use crate::policy::nanos::Nanos;
use crate::policy::section::Section;

const ROWS: usize = 1 + Kind::ALL.len();

#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// A list is in the growth.
    shape: [Option<Shape>; ROWS],
    growth: [Growth; ROWS],
    cap: [Nanos; ROWS],
    jitter: [u32; ROWS],
    max: [u32; ROWS],
    /// A bit for each row, since every number may be a `max`.
    names_max: u8,
}

/// A list has no `base` and no `factor`: they share a place.
#[derive(Clone, Copy)]
enum Growth {
    Grown {
        base: Nanos,
        /// The bits of a number from 1 up, or [`NO_FACTOR`]. So another value can mark a list.
        factor: NonZeroU64,
    },
    // A reference to a reference, because a reference to a slice also stores the length.
    Listed(&'static &'static [Duration]),
}

const NO_FACTOR: NonZeroU64 = NonZeroU64::MIN;

// A jitter up to 10⁹ is a ratio in billionths.
const FULL: u32 = u32::MAX;
const EQUAL: u32 = u32::MAX - 1;
const DECORRELATED: u32 = u32::MAX - 2;
const NONE: u32 = u32::MAX - 3;
const NOT_NAMED: u32 = u32::MAX - 4;

/// The row of that kind, or the policy's own.
const fn row(kind: Option<Kind>) -> usize {
    match kind {
        Some(kind) => 1 + kind as usize,
        None => 0,
    }
}

impl Rows {
    /// Nothing named.
    pub(crate) const fn new() -> Self {
        Self {
            shape: [None; ROWS],
            growth: [Growth::new(None, None); ROWS],
            cap: [Nanos::NOT_NAMED; ROWS],
            jitter: [NOT_NAMED; ROWS],
            max: [0; ROWS],
            names_max: 0,
        }
    }

    /// What is named for that kind, or for the policy as a whole.
    pub(crate) const fn get(&self, kind: Option<Kind>) -> Section {
        let row = row(kind);
        let mut named = Section::new();
        if self.names_max & (1 << row) != 0 {
            named.max = Some(self.max[row]);
        }
        named.cap = self.cap[row].get();
        named.jitter = unpack_jitter(self.jitter[row]);
        named.backoff = match self.shape[row] {
            Some(shape) => Some(Backoff::from_word(shape)),
            None => None,
        };
        match self.growth[row] {
            Growth::Grown { base, factor } => {
                named.base = base.get();
                if factor.get() != NO_FACTOR.get() {
                    named.factor = Some(f64::from_bits(factor.get()));
                }
            }
            Growth::Listed(delays) => named.backoff = Some(Backoff::List(delays)),
        }
        named
    }

    /// These rows with that section in place of the earlier one.
    pub(crate) const fn with(mut self, kind: Option<Kind>, named: Section) -> Self {
        let row = row(kind);
        if let Some(max) = named.max {
            self.max[row] = max;
            self.names_max |= 1 << row;
        } else {
            self.names_max &= !(1 << row);
        }
        self.cap[row] = Nanos::new(named.cap);
        self.jitter[row] = pack_jitter(named.jitter);
        self.growth[row] = Growth::new(named.base, named.factor);
        self.shape[row] = match named.backoff {
            Some(Backoff::List([])) => Some(Shape::None),
            Some(Backoff::List(delays)) => {
                self.growth[row] = Growth::Listed(delays);
                None
            }
            Some(backoff) => backoff.word(),
            None => None,
        };
        self
    }
}

impl Growth {
    const fn new(base: Option<Duration>, factor: Option<f64>) -> Self {
        let factor = match factor {
            Some(factor) => NonZeroU64::new(growing(factor).to_bits()),
            None => None,
        };
        Self::Grown {
            base: Nanos::new(base),
            factor: match factor {
                Some(factor) => factor,
                None => NO_FACTOR,
            },
        }
    }
}

/// The nearest valid factor: 1 for numbers below 1 and for NaN.
const fn growing(factor: f64) -> f64 {
    if factor > f64::MAX {
        f64::MAX
    } else if factor > 1.0 {
        factor
    } else {
        1.0
    }
}

const fn pack_jitter(jitter: Option<Jitter>) -> u32 {
    match jitter {
        Some(Jitter::Full) => FULL,
        Some(Jitter::Equal) => EQUAL,
        Some(Jitter::Decorrelated) => DECORRELATED,
        Some(Jitter::None) => NONE,
        Some(Jitter::Ratio(ratio)) => range::to_billionths(ratio),
        None => NOT_NAMED,
    }
}

const fn unpack_jitter(jitter: u32) -> Option<Jitter> {
    match jitter {
        FULL => Some(Jitter::Full),
        EQUAL => Some(Jitter::Equal),
        DECORRELATED => Some(Jitter::Decorrelated),
        NONE => Some(Jitter::None),
        NOT_NAMED => None,
        billionths => Some(Jitter::Ratio(range::from_billionths(billionths))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two words each, or five rows are too many.
    const _: () = assert!(size_of::<Growth>() == 16);

    const LIST: &[Duration] = &[Duration::from_secs(1)];

    #[test]
    fn rows_are_apart() {
        let named = Section::new().max(u32::MAX).base(Duration::ZERO);
        for kind in Kind::ALL {
            let rows = Rows::new().with(Some(kind), named);
            assert_eq!(rows.get(Some(kind)), named);
            assert_eq!(rows.get(None), Section::new());
            for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
                assert_eq!(rows.get(Some(other)), Section::new());
            }
        }
        assert_eq!(Rows::new().with(None, named).get(None), named);
    }

    #[test]
    fn values_out_of_range_are_the_nearest_within() {
        let kept = |section| Rows::new().with(None, section).get(None);
        for (given, factor) in [
            (0.5, 1.0),
            (f64::NAN, 1.0),
            (-1.0, 1.0),
            (1.5, 1.5),
            (f64::INFINITY, f64::MAX),
        ] {
            assert_eq!(kept(Section::new().factor(given)).factor, Some(factor));
        }
        for (given, ratio) in [(-0.5, 0.0), (f64::NAN, 0.0), (1.5, 1.0), (0.2, 0.2)] {
            let jitter = Jitter::Ratio(given);
            assert_eq!(
                kept(Section::new().jitter(jitter)).jitter,
                Some(Jitter::Ratio(ratio))
            );
        }
        let forever = kept(Section::new().cap(Duration::MAX));
        assert_eq!(forever.cap, Some(retry_vocabulary::duration::LONGEST));
        let empty = kept(Section::new().backoff(Backoff::list(&[])));
        assert_eq!(empty.backoff, Some(Backoff::None));
    }

    #[test]
    fn a_list_takes_the_place_of_base_and_factor() {
        let list = Section::new().backoff(Backoff::List(&LIST));
        let kept = Rows::new()
            .with(None, list.base(Duration::ZERO).factor(3.0))
            .get(None);
        assert_eq!(kept, list);
    }
}
