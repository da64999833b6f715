/// What to say of a name that is not among `known`: the nearest of them, or all.
pub(crate) fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = known
        .clone()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= 1 + name.len() / 4 => {
            format!("did you mean `{candidate}`?")
        }
        _ => format!("known are {}", list(known)),
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
