//! The content security policy of the pages, and the redirect targets of forms.

/// The `Content-Security-Policy` of every page.
///
/// Browsers also apply `form-action` to the redirect that answers a form, so the consent screen names the origin of the
/// callback (`https://agents.example.com`) the person may be redirected to. Nothing may frame a page: an approval that
/// can be overlaid is no approval (AAP 13.2).
pub fn content_security_policy(form_may_lead_to: Option<&str>) -> String {
    // Any other character in the origin could smuggle in a further directive.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '-' | '[' | ']');
    let origin = form_may_lead_to.filter(|o| o.starts_with("https://") && o.chars().all(plain));
    let lead = origin.map(|o| format!(" {o}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'{lead}; \
         base-uri 'none'; frame-ancestors 'none'"
    )
}

/// The policy of a page that also opens an event stream: its script may connect to this server only.
pub fn listening_policy() -> String {
    format!("{}; connect-src 'self'", content_security_policy(None))
}

/// A path on this server to redirect to after signing in; anything else is refused.
///
/// Browsers drop tabs and line breaks and read `\` as `/`, so `/\evil.example` would leave the server.
pub fn local_path(next: &str) -> Option<&str> {
    let local = next.starts_with('/') && !next.starts_with("//");
    let plain = next.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    (local && plain && next.len() <= 1024).then_some(next)
}
