//! Exact decimals.

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};

/// Any number of so many digits fits into the 96 bits of the decimal type, at any scale.
const MAX_DIGITS: usize = 28;

/// An amount: zero or more, exact, written as digits with at most one fraction.
///
/// Compared by value and displayed as written: 500 and 500.00 are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(Decimal);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAmount {
    #[error(
        "an amount is digits with at most one fraction, such as 82000.10: no sign, exponent, separator or leading zero"
    )]
    NotDigits,
    #[error("an amount has at most {MAX_DIGITS} digits")]
    TooLong,
}

impl Amount {
    pub const ZERO: Self = Self(Decimal::ZERO);

    pub fn parse(text: &str) -> Result<Self, BadAmount> {
        if !is_written_plainly(text) {
            return Err(BadAmount::NotDigits);
        }
        if text.bytes().filter(u8::is_ascii_digit).count() > MAX_DIGITS {
            return Err(BadAmount::TooLong);
        }
        Decimal::from_str_exact(text).map(Self).map_err(|_| BadAmount::TooLong)
    }

    /// The exact sum, or none if it has too many digits. The library would round it.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Self::exactly(left.checked_add(right)?, scale)
    }

    /// The exact difference, or none if it is negative or has too many digits.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Self::exactly(left.checked_sub(right).filter(|rest| *rest >= 0)?, scale)
    }

    /// The same amount without trailing zeros beyond the scale of `like`.
    #[must_use]
    pub fn written_like(self, like: Self) -> Self {
        let (mut whole, mut scale) = (self.0.mantissa(), self.0.scale());
        while scale > like.0.scale() && whole % 10 == 0 {
            (whole, scale) = (whole / 10, scale - 1);
        }
        Self::exactly(whole, scale).unwrap_or(self)
    }

    /// Both as integers of the smaller unit, and their common scale.
    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.0.scale().max(other.0.scale());
        let of = |amount: Decimal| 10_i128.checked_pow(scale - amount.scale())?.checked_mul(amount.mantissa());
        Some((of(self.0)?, of(other.0)?, scale))
    }

    /// 96 bits hold some numbers of 29 digits, which could not be parsed again.
    fn exactly(whole: i128, scale: u32) -> Option<Self> {
        let most = 10_i128.pow(MAX_DIGITS as u32);
        let digits_fit = whole < most && (scale as usize) < MAX_DIGITS;
        digits_fit.then(|| Decimal::try_from_i128_with_scale(whole, scale).ok().map(Self)).flatten()
    }
}

/// The syntax of displayed amounts: no leading zero that could mean octal.
fn is_written_plainly(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits)
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Debug for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Amount {
    type Err = BadAmount;
    fn from_str(text: &str) -> Result<Self, BadAmount> {
        Self::parse(text)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(AmountText)
    }
}

/// Strings only: a JSON number would already have been a double.
struct AmountText;

impl Visitor<'_> for AmountText {
    type Value = Amount;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an amount in quotes, such as \"82000.10\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Amount, E> {
        Amount::parse(text).map_err(E::custom)
    }
}
