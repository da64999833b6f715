//! The numbers of a policy and its sections, as a policy stores them: a column for each key, with one row for the
//! policy itself and one for each kind of failure. Stored as sections, they would take more than twice the space, in every
//! policy and in the future of every chain.

use core::num::NonZeroU64;
use core::time::Duration;

use retry_vocabulary::range;
use retry_vocabulary::word::{self, Word};

use crate::classify::kind::Kind;
use crate::policy::backoff::Backoff;
use crate::policy::jitter::Jitter;
use crate::policy::nanos::Nanos;
use crate::policy::section::Section;

const ROWS: usize = 1 + Kind::ALL.len();

#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The shapes but for lists, which are in `growth`.
    backoff: [Option<word::Backoff>; ROWS],
    growth: [Growth; ROWS],
    cap: [Nanos; ROWS],
    /// Up to 10⁹ a ratio in billionths, from [`JITTER_WORD`] up a word.
    jitter: [u32; ROWS],
    max: [u32; ROWS],
    /// A bit for each row, since every number may be a `max`.
    names_max: u8,
}

/// A list has no `base` and no `factor`: they share its space.
#[derive(Clone, Copy)]
enum Growth {
    /// The factor is the bits of a number from 1 up, or [`NO_FACTOR`]. So another value can mark a list.
    Grown(Nanos, NonZeroU64),
    // A reference to a reference, because a reference to a slice also stores the length.
    Listed(&'static &'static [Duration]),
}

const NO_FACTOR: NonZeroU64 = NonZeroU64::MIN;
const JITTER_WORD: u32 = 2_000_000_000;
const NO_JITTER: u32 = u32::MAX;

/// The row of a kind, or the policy's own.
const fn row(kind: Option<Kind>) -> usize {
    match kind {
        Some(kind) => 1 + kind as usize,
        None => 0,
    }
}

impl Rows {
    /// Rows that name nothing.
    pub(crate) const fn new() -> Self {
        Self {
            backoff: [None; ROWS],
            growth: [Growth::Grown(Nanos::NOT_NAMED, NO_FACTOR); ROWS],
            cap: [Nanos::NOT_NAMED; ROWS],
            jitter: [NO_JITTER; ROWS],
            max: [0; ROWS],
            names_max: 0,
        }
    }

    /// What is named for a kind, or for the policy as a whole.
    pub(crate) const fn get(&self, kind: Option<Kind>) -> Section {
        let row = row(kind);
        let mut named = Section::new();
        if self.names_max & (1 << row) != 0 {
            named.max = Some(self.max[row]);
        }
        named.cap = self.cap[row].get();
        named.jitter = unpack_jitter(self.jitter[row]);
        if let Some(shape) = self.backoff[row] {
            named.backoff = Some(Backoff::from_word(shape));
        }
        match self.growth[row] {
            Growth::Grown(base, factor) => {
                named.base = base.get();
                if factor.get() != NO_FACTOR.get() {
                    named.factor = Some(f64::from_bits(factor.get()));
                }
            }
            Growth::Listed(delays) => named.backoff = Some(Backoff::List(delays)),
        }
        named
    }

    /// These rows with `named` in place of the earlier section.
    pub(crate) const fn with(mut self, kind: Option<Kind>, named: Section) -> Self {
        let row = row(kind);
        self.names_max &= !(1 << row);
        if let Some(max) = named.max {
            self.max[row] = max;
            self.names_max |= 1 << row;
        }
        self.cap[row] = Nanos::new(named.cap);
        self.jitter[row] = pack_jitter(named.jitter);
        self.growth[row] = Growth::Grown(Nanos::new(named.base), pack_factor(named.factor));
        self.backoff[row] = match named.backoff {
            Some(Backoff::List([])) => Some(word::Backoff::None),
            Some(Backoff::List(delays)) => {
                self.growth[row] = Growth::Listed(delays);
                None
            }
            Some(shape) => shape.word(),
            None => None,
        };
        self
    }
}

/// The nearest valid factor: 1 for numbers below 1 and for NaN.
const fn pack_factor(factor: Option<f64>) -> NonZeroU64 {
    let factor = match factor {
        Some(f64::INFINITY) => f64::MAX,
        Some(factor) if factor > 1.0 => factor,
        Some(_) => 1.0,
        None => return NO_FACTOR,
    };
    // No bits of a number from 1 up are zero.
    NonZeroU64::MIN.saturating_add(factor.to_bits() - 1)
}

const fn pack_jitter(jitter: Option<Jitter>) -> u32 {
    match jitter {
        Some(Jitter::Ratio(ratio)) => range::to_billionths(ratio),
        Some(jitter) => match jitter.word() {
            Some(word) => JITTER_WORD + word as u32,
            None => NO_JITTER,
        },
        None => NO_JITTER,
    }
}

const fn unpack_jitter(jitter: u32) -> Option<Jitter> {
    match jitter {
        NO_JITTER => None,
        JITTER_WORD.. => {
            let word = word::Jitter::ALL[(jitter - JITTER_WORD) as usize];
            Some(Jitter::from_word(word))
        }
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
