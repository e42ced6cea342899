//! Reads the head of a request strictly, before the HTTP implementation does.
//!
//! Request smuggling needs two readers that disagree about the end of a message, so every ambiguous head is refused, also
//! where RFC 9112 would let a recipient guess.

#[cfg(test)]
mod tests;

/// The longest accepted request line.
const MAX_TARGET: usize = 8 * 1024;
pub(crate) const MAX_HEADERS: usize = 100;
/// A larger length is negative for some readers.
const MAX_LENGTH: u64 = i64::MAX as u64;

/// How the body behind a head is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Sized(u64),
    Chunked,
    /// It asks for another protocol: the bytes after it are not HTTP, or there are none.
    Upgrade,
}

/// The error of a head. The client gets the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Odd {
    #[error("a line of the request does not end with CR and LF")]
    BareLineBreak,
    #[error("the request line is not METHOD TARGET HTTP/1.1")]
    RequestLine,
    #[error("the request's target is too long")]
    TargetTooLong,
    #[error("the request's target has a character that does not belong there")]
    TargetCharacter,
    #[error("the request's target is neither a path nor a URL")]
    TargetForm,
    #[error("this method is not served here")]
    Method,
    #[error("the request's head is too large")]
    TooLarge,
    #[error("the request has too many headers")]
    TooManyHeaders,
    #[error("a header continues on the next line")]
    Folded,
    #[error("a header has no valid name")]
    HeaderName,
    #[error("a header's value has a control character")]
    HeaderValue,
    #[error("the request has no Host, or several")]
    Host,
    #[error("Content-Length is not one number")]
    ContentLength,
    #[error("Transfer-Encoding is not exactly chunked")]
    TransferEncoding,
    #[error("both Content-Length and Transfer-Encoding are given")]
    TwoLengths,
    #[error("Expect is not 100-continue")]
    Expect,
    #[error("a GET, HEAD or upgrade has a body")]
    Body,
}

/// Reads a head, up to and including its empty line.
pub(crate) fn read(head: &[u8]) -> Result<Framing, Odd> {
    let mut lines = Lines(head);
    let (method, version) = request_line(lines.next().ok_or(Odd::RequestLine)??)?;
    let mut seen = Seen::default();
    for (count, line) in lines.enumerate() {
        let line = line?;
        if line.is_empty() {
            return seen.framing(method, version);
        }
        if count >= MAX_HEADERS {
            return Err(Odd::TooManyHeaders);
        }
        seen.header(line)?;
    }
    Err(Odd::BareLineBreak)
}

/// Lines ended by CR LF, without it; CR and LF may stand nowhere else.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = Result<&'a [u8], Odd>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some(end) = self.0.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
            self.0 = &[];
            return Some(Err(Odd::BareLineBreak));
        };
        let (line, rest) = self.0.split_at(end);
        let Some(rest) = rest.strip_prefix(b"\r\n") else {
            self.0 = &[];
            return Some(Err(Odd::BareLineBreak));
        };
        self.0 = rest;
        Some(Ok(line))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
}

fn request_line(line: &[u8]) -> Result<(&[u8], Version), Odd> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Odd::RequestLine);
    };
    if method.is_empty() || !method.iter().copied().all(is_token) {
        return Err(Odd::RequestLine);
    }
    if matches!(method, b"CONNECT" | b"TRACE") {
        return Err(Odd::Method);
    }
    check_target(target)?;
    match version {
        b"HTTP/1.1" => Ok((method, Version::Http11)),
        b"HTTP/1.0" => Ok((method, Version::Http10)),
        _ => Err(Odd::RequestLine),
    }
}

/// A fragment is never sent, and a target with one would be forwarded as another target. A target that the HTTP
/// implementation would reject must not reach it: it would answer without the envelope.
fn check_target(target: &[u8]) -> Result<(), Odd> {
    let is_url = |scheme: &[u8]| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if target.len() > MAX_TARGET {
        Err(Odd::TargetTooLong)
    } else if !target.iter().all(|byte| byte.is_ascii_graphic() && !b"#<>`\"".contains(byte)) {
        Err(Odd::TargetCharacter)
    } else {
        let path = target.starts_with(b"/") || target == b"*";
        let fits = path || ((is_url(b"http://") || is_url(b"https://")) && http::Uri::try_from(target).is_ok());
        fits.then_some(()).ok_or(Odd::TargetForm)
    }
}

#[derive(Default)]
struct Seen {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    upgrade: bool,
}

impl Seen {
    fn header(&mut self, line: &[u8]) -> Result<(), Odd> {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(Odd::Folded);
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Odd::HeaderName)?;
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        if name.is_empty() || !name.iter().copied().all(is_token) {
            return Err(Odd::HeaderName);
        }
        if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return Err(Odd::HeaderValue);
        }
        self.note(name, value)
    }

    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Odd> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            4 if is("host") => self.hosts += 1,
            6 if is("expect") && !value.eq_ignore_ascii_case(b"100-continue") => return Err(Odd::Expect),
            7 if is("upgrade") => self.upgrade = true,
            14 if is("content-length") => {
                let length = number(value).filter(|_| self.length.is_none());
                self.length = Some(length.ok_or(Odd::ContentLength)?);
            }
            17 if is("transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Odd::TransferEncoding);
                }
                self.chunked = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn framing(&self, method: &[u8], version: Version) -> Result<Framing, Odd> {
        if self.chunked && self.length.is_some() {
            return Err(Odd::TwoLengths);
        }
        if self.chunked && version == Version::Http10 {
            return Err(Odd::TransferEncoding);
        }
        if self.hosts > 1 || (self.hosts == 0 && version == Version::Http11) {
            return Err(Odd::Host);
        }
        let has_body = self.chunked || self.length.is_some_and(|length| length > 0);
        if has_body && (self.upgrade || matches!(method, b"GET" | b"HEAD")) {
            return Err(Odd::Body);
        }
        Ok(match self {
            Self { upgrade: true, .. } => Framing::Upgrade,
            Self { chunked: true, .. } => Framing::Chunked,
            Self { length, .. } => Framing::Sized(length.unwrap_or_default()),
        })
    }
}

/// Digits only: no sign, no list, no blanks; and a number that fits everywhere.
fn number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number: u64 = std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()?;
    (number <= MAX_LENGTH).then_some(number)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
