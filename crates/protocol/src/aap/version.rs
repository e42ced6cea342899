//! Version negotiation (AAP 13.4, 22): the accepted versions and their headers.

/// The versions that this build serves, oldest first.
pub const ACCEPTED: &[&str] = &["2.0"];
pub const PREFERRED: &str = "2.0";

/// Sent by agents on every request.
pub const HEADER: &str = "aap-version";
/// Sent by services on every response of an AAP route.
pub const SERVED: &str = "aap-version-served";
/// The versions that the service accepts; a refusal sends both headers (C-11).
pub const ACCEPTED_HEADER: &str = "aap-version-accepted";
pub const REQUIRED_HEADER: &str = "x-aap-version-required";

/// The version to serve: exactly the requested one, or none (AAP 22.2).
pub fn negotiate<'a>(asked: Option<&str>, accepted: &[&'a str]) -> Option<&'a str> {
    let asked = asked?.trim();
    accepted.iter().copied().find(|version| *version == asked)
}

/// The version that a response names: the requested one, even if a newer one is accepted (AAP 22.2).
pub fn served<'a>(asked: Option<&str>, accepted: &[&'a str]) -> &'a str {
    negotiate(asked, accepted).unwrap_or(PREFERRED)
}

/// The newest version that both sides list, for a client that reads a manifest or a refusal.
pub fn choose<'a>(ours: &[&'a str], theirs: &[impl AsRef<str>]) -> Option<&'a str> {
    let listed = |version: &&&str| theirs.iter().any(|t| t.as_ref().trim_start_matches("aap/") == **version);
    ours.iter().rev().find(listed).copied()
}

/// As a comma list for a header.
pub fn list(accepted: &[&str]) -> String {
    accepted.join(", ")
}
