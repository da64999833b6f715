use alloc::vec;
use alloc::vec::Vec;

/// The known name that is most similar to `name`, if any is similar enough. A common prefix counts most, so that
/// `exponential` finds `exp`.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let mut best = (0.8, None);
    for known in known {
        let similarity = jaro_winkler(&name, &known.chars().collect::<Vec<_>>());
        if similarity > best.0 {
            best = (similarity, Some(*known));
        }
    }
    best.1
}

/// The similarity of two names, from 0 to 1.
///
/// From Winkler, "String Comparator Metrics and Enhanced Decision Rules in the Fellegi-Sunter Model of Record Linkage"
/// (1990): Jaro's similarity, increased for a common prefix of up to four letters.
fn jaro_winkler(a: &[char], b: &[char]) -> f64 {
    let prefix = a.iter().zip(b).take(4).take_while(|(a, b)| a == b);
    let prefix: f64 = prefix.map(|_| 0.1).sum();
    let jaro = jaro(a, b);
    jaro + prefix * (1.0 - jaro)
}

fn jaro(a: &[char], b: &[char]) -> f64 {
    // The maximum distance that a letter may have moved.
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut matched = Vec::new();
    for (index, letter) in a.iter().enumerate() {
        let mut near = index.saturating_sub(reach)..b.len().min(index + reach + 1);
        if let Some(found) = near.find(|other| !taken[*other] && b[*other] == *letter) {
            taken[found] = true;
            matched.push(letter);
        }
    }
    if matched.is_empty() {
        return 0.0;
    }
    let in_b = b.iter().zip(&taken).filter(|(_, taken)| **taken);
    let moved = matched.iter().zip(in_b).filter(|(a, (b, _))| **a != *b);
    let [transpositions, matches, a, b] = [moved.count() / 2, matched.len(), a.len(), b.len()]
        .map(|letters| f64::from(u32::try_from(letters).unwrap_or(u32::MAX)));
    (matches / a + matches / b + (matches - transpositions) / matches) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &str, b: &str) -> f64 {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        jaro_winkler(&letters(a), &letters(b))
    }

    /// The figures that Winkler published.
    #[test]
    fn similarity_matches_the_published_figures() {
        for (a, b, published) in [
            ("martha", "marhta", 0.961),
            ("dixon", "dicksonx", 0.813),
            ("dwayne", "duane", 0.840),
            ("abc", "xyz", 0.0),
            ("", "", 0.0),
            ("cap", "cap", 1.0),
        ] {
            assert!((similarity(a, b) - published).abs() < 0.001, "{a} and {b}");
            assert!((similarity(b, a) - published).abs() < 0.001, "{b} and {a}");
        }
    }

    #[test]
    fn a_similar_name_is_found() {
        let words = ["exp", "fixed", "linear", "fibonacci", "none"];
        assert_eq!(nearest("exponential", &words), Some("exp"));
        assert_eq!(nearest("FIXD", &words), Some("fixed"));
        assert_eq!(nearest("7", &words), None);
        assert_eq!(nearest("", &words), None);
        assert_eq!(nearest("é", &[]), None);
    }
}
