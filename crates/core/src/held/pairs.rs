//! `name=value&name=value`, the syntax of queries and forms, parsed unambiguously or refused.

use super::json::{folded, shortly};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPairs {
    #[error("{0:?} occurs twice")]
    Twice(String),
    #[error("a value has no name")]
    Unnamed,
    #[error("a percent sign is not followed by two hex digits")]
    Percent,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("some services take a semicolon for a separator: write %3B")]
    Semicolon,
    #[error("it has a byte that must be written with a percent sign")]
    Byte,
}

/// The pairs in order. Names that differ only in case count as the same, as they do for some services.
pub(super) fn read(text: &[u8]) -> Result<Vec<(String, String)>, BadPairs> {
    let mut names = HashSet::new();
    let mut pairs = Vec::new();
    for pair in text.split(|b| *b == b'&').filter(|pair| !pair.is_empty()) {
        let equals = pair.iter().position(|b| *b == b'=').unwrap_or(pair.len());
        let (name, value) = pair.split_at(equals);
        let (name, value) = (decoded(name, true)?, decoded(value.get(1..).unwrap_or_default(), true)?);
        if name.is_empty() {
            return Err(BadPairs::Unnamed);
        }
        if !names.insert(folded(&name)) {
            return Err(BadPairs::Twice(shortly(&name)));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Percent-decoded; in queries and forms a plus is a space.
pub(crate) fn decoded(text: &[u8], plus_is_space: bool) -> Result<String, BadPairs> {
    let mut bytes = text.iter().copied();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => hex_pair(bytes.next(), bytes.next()).ok_or(BadPairs::Percent)?,
            b'+' if plus_is_space => b' ',
            b';' => return Err(BadPairs::Semicolon),
            b'#' | 0..=b' ' | 0x7f.. => return Err(BadPairs::Byte),
            plain => plain,
        });
    }
    String::from_utf8(out).map_err(|_| BadPairs::NotUtf8)
}

fn hex_pair(high: Option<u8>, low: Option<u8>) -> Option<u8> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
