/// What to say of a name that is not among `known`: which of them is much like it, if any, and all.
///
/// A common beginning counts most, so that `exponential` finds `exp`. The runtime's errors about
/// configuration suggest by the same measure.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    let name = name.to_lowercase();
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, nearest)) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}
