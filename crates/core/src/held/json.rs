//! JSON as written: numbers keep their digits, members their order, and nothing is ambiguous.
//!
//! `serde_json` turns numbers into doubles, and a person who approves 82000.10 must not read 82000.1 or less.

use countersign_protocol::json::MAX_DEPTH;
use std::collections::HashSet;

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonMember {
    Null,
    Bool(bool),
    /// The digits as written.
    Number(String),
    Text(String),
    List(Vec<JsonMember>),
    Object(Vec<(String, JsonMember)>),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadJson {
    #[error("it begins with a byte order mark")]
    Marked,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("at byte {0} it breaks the grammar")]
    Grammar(usize),
    #[error("something follows at byte {0}")]
    Trailing(usize),
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    Deep,
    #[error("the member {0:?} occurs twice")]
    Twice(String),
    #[error("the members {0:?} and {1:?} differ in case only, which not every service tells apart")]
    Alike(String, String),
    #[error("at byte {0} is half of a surrogate pair")]
    Surrogate(usize),
}

/// Parses a text with exactly one value.
pub(crate) fn read(bytes: &[u8]) -> Result<JsonMember, BadJson> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(BadJson::Marked);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| BadJson::NotUtf8)?;
    let mut reader = StrictJsonReader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at == text.len() { Ok(value) } else { Err(BadJson::Trailing(reader.at)) }
}

impl JsonMember {
    pub fn get(&self, name: &str) -> Option<&JsonMember> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            Self::List(items) => is_index(name).then(|| name.parse().ok()).flatten().and_then(|n: usize| items.get(n)),
            _ => None,
        }
    }

    /// Without spaces; numbers as written.
    pub fn compact(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(digits) => digits.clone(),
            Self::Text(text) => quoted(text),
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::compact))),
            Self::Object(members) => {
                format!(
                    "{{{}}}",
                    joined(members.iter().map(|(name, value)| format!("{}:{}", quoted(name), value.compact())))
                )
            }
        }
    }
}

/// Accepts one spelling per index: `0`, `17`, but not `017`.
fn is_index(name: &str) -> bool {
    name == "0" || (!name.starts_with('0') && !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))
}

/// As a JSON string in quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

struct StrictJsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl StrictJsonReader<'_> {
    fn value(&mut self, depth: usize) -> Result<JsonMember, BadJson> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(BadJson::Deep),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'"') => self.string().map(JsonMember::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", JsonMember::Bool(true)),
            Some(b'f') => self.word("false", JsonMember::Bool(false)),
            Some(b'n') => self.word("null", JsonMember::Null),
            _ => Err(self.grammar()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<JsonMember, BadJson> {
        let mut names = Names::default();
        let mut members = Vec::new();
        self.at += 1;
        if self.ends_with(b'}') {
            return Ok(JsonMember::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            names.take(&name)?;
            self.demand(b':')?;
            members.push((name, self.value(depth)?));
            if !self.goes_on(b'}')? {
                return Ok(JsonMember::Object(members));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<JsonMember, BadJson> {
        let mut items = Vec::new();
        self.at += 1;
        if self.ends_with(b']') {
            return Ok(JsonMember::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            if !self.goes_on(b']')? {
                return Ok(JsonMember::List(items));
            }
        }
    }

    /// After an entry: whether a comma announces another one.
    fn goes_on(&mut self, end: u8) -> Result<bool, BadJson> {
        if self.ends_with(end) {
            return Ok(false);
        }
        self.demand(b',').map(|()| true)
    }

    fn string(&mut self) -> Result<String, BadJson> {
        self.demand(b'"')?;
        let mut text = String::new();
        loop {
            let c = self.rest().chars().next().ok_or_else(|| self.grammar())?;
            match c {
                '"' => break,
                '\\' => text.push(self.escape()?),
                '\0'..='\x1f' => return Err(self.grammar()),
                _ => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self) -> Result<char, BadJson> {
        let (begin, letter) = (self.at, self.rest().as_bytes().get(1).copied());
        self.at += 2;
        Ok(match letter {
            Some(b'u') => return self.unicode(begin),
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(BadJson::Grammar(begin)),
        })
    }

    /// After `\u`: one unit, or a surrogate pair.
    fn unicode(&mut self, begin: usize) -> Result<char, BadJson> {
        let first = self.unit(begin)?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) {
            self.at += if self.rest().starts_with("\\u") { 2 } else { return Err(BadJson::Surrogate(begin)) };
            units.push(self.unit(begin)?);
        }
        let mut decoded = char::decode_utf16(units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(c)), None) => Ok(c),
            _ => Err(BadJson::Surrogate(begin)),
        }
    }

    fn unit(&mut self, begin: usize) -> Result<u16, BadJson> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).ok_or(BadJson::Grammar(begin))?;
        self.at += 4;
        Ok(unit)
    }

    fn number(&mut self) -> Result<JsonMember, BadJson> {
        let begin = self.at;
        self.skip_if(|b| b == b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(BadJson::Grammar(begin));
        }
        if self.skip_if(|b| b == b'.') {
            self.digits()?;
        }
        if self.skip_if(|b| matches!(b, b'e' | b'E')) {
            self.skip_if(|b| matches!(b, b'+' | b'-'));
            self.digits()?;
        }
        Ok(JsonMember::Number(self.text.get(begin..self.at).unwrap_or_default().to_owned()))
    }

    fn digits(&mut self) -> Result<String, BadJson> {
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        self.at += digits.len();
        if digits.is_empty() { Err(self.grammar()) } else { Ok(digits) }
    }

    fn word(&mut self, word: &str, means: JsonMember) -> Result<JsonMember, BadJson> {
        if !self.rest().starts_with(word) {
            return Err(self.grammar());
        }
        self.at += word.len();
        Ok(means)
    }

    fn space(&mut self) {
        while self.skip_if(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {}
    }

    fn ends_with(&mut self, end: u8) -> bool {
        self.space();
        self.skip_if(|b| b == end)
    }

    fn demand(&mut self, wanted: u8) -> Result<(), BadJson> {
        self.space();
        if self.skip_if(|b| b == wanted) { Ok(()) } else { Err(self.grammar()) }
    }

    fn skip_if(&mut self, fits: impl Fn(u8) -> bool) -> bool {
        let skips = self.peek().is_some_and(fits);
        self.at += usize::from(skips);
        skips
    }

    fn peek(&self) -> Option<u8> {
        self.rest().as_bytes().first().copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn grammar(&self) -> BadJson {
        BadJson::Grammar(self.at)
    }
}

/// The names of one object. Some parsers treat `Amount` and `amount` as the same name and use the last one.
#[derive(Default)]
struct Names {
    folded: HashSet<String>,
    seen: Vec<String>,
}

impl Names {
    fn take(&mut self, name: &str) -> Result<(), BadJson> {
        let folded = folded(name);
        if !self.folded.insert(folded.clone()) {
            let alike = self.seen.iter().find(|seen| self::folded(seen) == folded).map_or("", String::as_str);
            return Err(if alike == name {
                BadJson::Twice(shortly(name))
            } else {
                BadJson::Alike(shortly(alike), shortly(name))
            });
        }
        self.seen.push(name.to_owned());
        Ok(())
    }
}

/// Upper case first: `ſ` and `K` fold to the letters that careless comparisons take them for.
pub(super) fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// A caller's name, shortened for a message.
pub(super) fn shortly(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests;
