//! What a browser may do with a page, and where a form may lead.

/// The `Content-Security-Policy` of every page.
///
/// Browsers hold `form-action` also against the redirect that answers a form, so the consent screen names the
/// origin of the callback (`https://agents.example.com`) to which an answer may send the person on. Nothing may
/// frame a page: an approval that can be overlaid is none (AAP 13.2).
pub fn content_security_policy(form_may_lead_to: Option<&str>) -> String {
    // An origin with anything but the characters of one could smuggle in another directive.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '-' | '[' | ']');
    let origin = form_may_lead_to.filter(|o| o.starts_with("https://") && o.chars().all(plain));
    let lead = origin.map(|o| format!(" {o}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'{lead}; \
         base-uri 'none'; frame-ancestors 'none'"
    )
}

/// The same for a page that also listens: its script may ask this very server, and nobody else.
pub fn listening_policy() -> String {
    format!("{}; connect-src 'self'", content_security_policy(None))
}

/// A path on this very server to go on to after signing in; everything else is refused.
///
/// Browsers drop tabs and line breaks and read `\` as `/`, so `/\evil.example` would leave the server.
pub fn local_path(next: &str) -> Option<&str> {
    let local = next.starts_with('/') && !next.starts_with("//");
    let plain = next.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    (local && plain && next.len() <= 1024).then_some(next)
}
