//! Which of our languages comes nearest to what somebody reads (AAEP 11.1.3).

/// The best of `offered` for somebody who named languages in order of preference.
///
/// Each is tried as it is, then without its region, then without its script, before the next one is looked at.
pub fn best_language<'o>(asked: &[String], offered: &[&'o str]) -> Option<&'o str> {
    asked.iter().find_map(|tag| serving(tag, offered))
}

/// The offered language in which somebody who asked for this one is served.
pub(super) fn serving<'o>(tag: &str, offered: &[&'o str]) -> Option<&'o str> {
    let mut wanted = tag;
    let mut script_kept = true;
    loop {
        let same = offered.iter().find(|offer| offer.eq_ignore_ascii_case(wanted));
        // `en` is served by `en-US`; but who reads one script is not served by another one.
        let wider = || offered.iter().find(|offer| script_kept && begins(offer, wanted));
        if let Some(found) = same.or_else(wider) {
            return Some(found);
        }
        let (shorter, dropped) = wanted.rsplit_once('-')?;
        script_kept &= !is_script(dropped);
        wanted = shorter;
    }
}

fn begins(offer: &str, wanted: &str) -> bool {
    offer
        .split_at_checked(wanted.len())
        .is_some_and(|(start, rest)| start.eq_ignore_ascii_case(wanted) && rest.starts_with('-'))
}

fn is_script(subtag: &str) -> bool {
    subtag.len() == 4 && subtag.bytes().all(|b| b.is_ascii_alphabetic())
}
