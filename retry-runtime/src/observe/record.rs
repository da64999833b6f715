/// Which record of the log an event makes. Told beside the event, so that the others vanish from where it is told of.
#[derive(Clone, Copy)]
pub(crate) enum Record {
    Retrying,
    Correcting,
    GaveUp,
    Succeeded,
}
