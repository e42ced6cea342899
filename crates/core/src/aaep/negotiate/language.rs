//! Language matching: the nearest offered language for a reader (AAEP 11.1.3).

/// The best of `offered` for a list of languages in order of preference.
///
/// Each language is tried as it is, then without its region, then without its script, before the next one.
pub fn best_language<'o>(asked: &[String], offered: &[&'o str]) -> Option<&'o str> {
    asked.iter().find_map(|tag| nearest(tag, offered))
}

/// The offered language nearest to this one.
pub(super) fn nearest<'o>(tag: &str, offered: &[&'o str]) -> Option<&'o str> {
    let mut wanted = tag;
    let mut script_kept = true;
    loop {
        let same = offered.iter().find(|offer| offer.eq_ignore_ascii_case(wanted));
        // `en` is served by `en-US`, but a reader of one script cannot be served in another.
        let wider = || offered.iter().find(|offer| script_kept && is_prefix(offer, wanted));
        if let Some(found) = same.or_else(wider) {
            return Some(found);
        }
        let (shorter, dropped) = wanted.rsplit_once('-')?;
        script_kept &= !is_script(dropped);
        wanted = shorter;
    }
}

fn is_prefix(offer: &str, wanted: &str) -> bool {
    offer
        .split_at_checked(wanted.len())
        .is_some_and(|(start, rest)| start.eq_ignore_ascii_case(wanted) && rest.starts_with('-'))
}

fn is_script(subtag: &str) -> bool {
    subtag.len() == 4 && subtag.bytes().all(|b| b.is_ascii_alphabetic())
}
