use core::fmt;

use crate::chain::on_error::Classifies;
use crate::classify::verdict::Verdict;

/// What [`PolicyCall::show`](crate::PolicyCall::show) makes of what says which errors are worth a retry: it also says how
/// the log shows them.
#[derive(Clone, Copy, Debug)]
pub struct ShownBy<On, S> {
    on: On,
    show: S,
}

impl<On, S> ShownBy<On, S> {
    /// Takes a function such as `fmt::Display::fmt`.
    pub fn new<E>(on: On, show: S) -> Self
    where
        S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    {
        Self { on, show }
    }
}

#[diagnostic::do_not_recommend]
impl<E, On, S> Classifies<E> for ShownBy<On, S>
where
    On: Classifies<E>,
    S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    const IS_SHOWN: bool = true;
    type Returned = On::Returned;
    type Sufficient = On::Sufficient;

    fn verdict(&mut self, error: &E) -> Verdict {
        self.on.verdict(error)
    }

    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.show)(error, f)
    }
}
