/// How full a limiter is now, as [`Limiter::state`](crate::Limiter::state) says. `None` is what a limiter doesn't know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LimiterState {
    /// How many attempts run: the sum of their costs.
    pub running: Option<u64>,
    /// How many attempts wait for their turn.
    pub waiting: Option<usize>,
    /// How many attempts may run at a time.
    pub limit: Option<u32>,
    /// How much cost may begin per second; infinite without a limit.
    pub rate: Option<f64>,
}
