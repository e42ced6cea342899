//! Compares two URLs (RFC 9449 4.3, RFC 3986 6.2.2 and 6.2.3).
//!
//! Not with a browser's parser: it repairs invalid URLs, and a repaired URL is not the signed one. Here, a text that is
//! no URL by RFC 3986 equals only itself.

/// Query and fragment are ignored. Clients mostly write the expected form, so normalisation is rare.
pub(super) fn is_same(htu: &str, url: &str) -> bool {
    if htu == url {
        return true;
    }
    let (htu, url) = (without_query(htu), without_query(url));
    htu == url || normal(htu).is_some_and(|htu| normal(url) == Some(htu))
}

fn without_query(address: &str) -> &str {
    address.split_once(['?', '#']).map_or(address, |(before, _)| before)
}

/// `scheme://host[:port]/path` in its one spelling.
fn normal(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority.to_ascii_lowercase();
    if authority.is_empty() || !authority.bytes().all(is_of_authority) {
        return None;
    }
    let default_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let host = authority.strip_suffix(default_port).or(authority.strip_suffix(':')).unwrap_or(&authority);
    Some(format!("{scheme}://{host}{}", without_dots(&plain(path)?)))
}

/// A host or an IP address with its port. User names and escapes are not allowed here.
fn is_of_authority(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The characters allowed unescaped in a path.
fn is_of_path(byte: u8) -> bool {
    is_unreserved(byte) || b"/:@!$&'()*+,;=".contains(&byte)
}

/// Removes unnecessary escapes and writes the others in upper case.
fn plain(path: &str) -> Option<String> {
    let mut out = String::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => digit(bytes.next()?)? * 16 + digit(bytes.next()?)?,
            byte if is_of_path(byte) => {
                out.push(char::from(byte));
                continue;
            }
            _ => return None,
        };
        if is_unreserved(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Some(out)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16)?.try_into().ok()
}

/// RFC 3986 5.2.4, for a path that begins with a slash or is empty; the empty one is `/`.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments = path.strip_prefix('/').unwrap_or(path);
    for segment in segments.split('/') {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    let ends_in_dots = matches!(segments.rsplit('/').next(), Some("." | ".."));
    let slash = if ends_in_dots && !kept.is_empty() { "/" } else { "" };
    format!("/{}{slash}", kept.join("/"))
}

#[cfg(test)]
mod tests;
