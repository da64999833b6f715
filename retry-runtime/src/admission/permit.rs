/// The permit of one attempt: created by [`AdmissionControl::enter`], and given back to [`AdmissionControl::leave`].
///
/// [`AdmissionControl::enter`]: crate::AdmissionControl::enter
/// [`AdmissionControl::leave`]: crate::AdmissionControl::leave
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    number: u64,
    cost: u32,
    half_opens: bool,
}

impl Permit {
    /// A permit with a number of the breaker's or limiter's own, such as the position in its queue or the number of its
    /// state, and with the attempt's cost.
    #[inline]
    pub const fn new(number: u64, cost: u32) -> Self {
        Self {
            number,
            cost,
            half_opens: false,
        }
    }

    /// The permit of the first trial call, which makes a breaker half open: the log and observers report it.
    pub const fn half_opening(number: u64, cost: u32) -> Self {
        Self {
            half_opens: true,
            ..Self::new(number, cost)
        }
    }

    /// The number.
    #[inline]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The cost.
    #[inline]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// True if this permit made a breaker half open.
    #[inline]
    pub const fn half_opens(&self) -> bool {
        self.half_opens
    }
}
