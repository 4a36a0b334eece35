//! Suggestions for names that do not exist.

/// Smallest Jaro-Winkler similarity of a name that is suggested.
const LEAST_LIKENESS: f64 = 0.75;

/// Returns `did you mean tokio? ` if one of `names` is similar to `typed`, else an empty text.
pub fn hint<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let typed = typed.to_lowercase();
    let likeness = |name: &'a str| match strsim::osa_distance(&typed, name) {
        // Two letters that changed places make most of a short name.
        0 | 1 => (1.0, name),
        _ => (strsim::jaro_winkler(&typed, name), name),
    };
    let nearest = names.into_iter().map(likeness);
    let nearest = nearest.max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((likeness, name)) if likeness >= LEAST_LIKENESS => format!("did you mean {name}? "),
        _ => String::new(),
    }
}

/// Returns the element of this name.
///
/// # Errors
/// Returns the text of [`hint`] if no element has this name.
pub fn named<T>(mut all: Vec<T>, name: &str, name_of: impl Fn(&T) -> &str) -> Result<T, String> {
    match all.iter().position(|one| name_of(one) == name) {
        Some(found) => Ok(all.swap_remove(found)),
        None => Err(hint(name, all.iter().map(name_of))),
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn what_is_much_like_a_name_is_taken_for_it() {
        let names = ["std", "tokio", "mio-level", "mio-exhaustive", "mmsg"];
        for (typed, meant) in [
            ("tokyo", "tokio"),
            ("sdt", "std"),
            ("Tokio", "tokio"),
            ("mio_level", "mio-level"),
            ("mio-exhausted", "mio-exhaustive"),
        ] {
            let expected = format!("did you mean {meant}? ");
            assert_eq!(hint(typed, names), expected, "{typed}");
        }
        for nothing_like_it in ["io_uring", "", "x"] {
            assert_eq!(hint(nothing_like_it, names), "", "{nothing_like_it}");
        }
    }
}
