//! The known name nearest to a mistyped one.

/// Minimum similarity of two names: one typo in a word of four letters passes, another word does not.
const ALIKE: f64 = 0.8;

/// The hint for an unknown name: the nearest known one, or the whole list if none is near.
pub(super) fn hint<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match find(unknown, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known here: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn find<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let unknown = unknown.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&unknown, &name.to_lowercase()), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}
