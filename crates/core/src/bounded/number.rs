//! Numbers compared by exact value.

/// The value of a number: `82000`, `82000.0` and `82000.00` are equal. Doubles would also take 9007199254740993 for
/// 9007199254740992.
///
/// Numbers with an exponent are equal only as texts: nobody would write out the digits of 1e400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Number<'a> {
    Plain { negative: bool, whole: &'a str, fraction: &'a str },
    Exponent(&'a str),
}

impl<'a> Number<'a> {
    /// Parses a JSON number.
    pub(super) fn of(text: &'a str) -> Self {
        if text.contains(['e', 'E']) {
            return Self::Exponent(text);
        }
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        Self::Plain { negative: negative && !(whole == "0" && fraction.is_empty()), whole, fraction }
    }
}
