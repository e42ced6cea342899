//! Durations in policies (C-44).

/// Seconds of `90d`, `12h`, `PT30M` or `P7D`. Zero, fractions and unknown units are refused.
pub fn parse_secs(text: &str) -> Option<i64> {
    let (digits, unit) = match text.strip_prefix("PT") {
        Some(rest) => split_unit(rest, &[('S', 1), ('M', 60), ('H', 3600)])?,
        None => match text.strip_prefix('P') {
            Some(rest) => split_unit(rest, &[('D', 86400), ('W', 604_800)])?,
            None => split_unit(text, &[('s', 1), ('m', 60), ('h', 3600), ('d', 86400), ('w', 604_800)])?,
        },
    };
    digits.checked_mul(unit)
}

/// The duration in the largest unit that divides it: `90d`, `36h`.
pub fn to_text(secs: i64) -> String {
    let units = [(86400, 'd'), (3600, 'h'), (60, 'm')];
    let (unit, name) = units.into_iter().find(|(unit, _)| secs % unit == 0).unwrap_or((1, 's'));
    format!("{}{name}", secs / unit)
}

fn split_unit(text: &str, units: &[(char, i64)]) -> Option<(i64, i64)> {
    let unit = text.chars().last()?;
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    let digits = text.strip_suffix(unit)?;
    let plain = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { Some((digits.parse().ok()?, factor)) } else { None }
}
