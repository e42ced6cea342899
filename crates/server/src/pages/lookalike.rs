//! Lookalike domains.
//!
//! The warnings only add to the page: the ASCII form of the domain stays the identity, and no domain is refused here. A
//! domain is compared with those the person already trusts and with the service's own.

use super::{Frame, PlainLine};
use countersign_protocol::domain::Domain;
use unicode_security::{MixedScript, skeleton};

/// A reason to look twice at a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Easily mistaken for a domain that this person has connected.
    LooksLikeConnected { connected: Domain },
    /// Easily mistaken for the service itself.
    LooksLikeService { service: Domain },
    /// A trusted domain precedes the real one: `bank.example.evil.test`.
    Embeds { trusted: Domain },
    /// One label mixes scripts.
    MixedScripts { label: String },
    /// A label in another script that reads like plain Latin letters.
    ReadsAsLatin { label: String, reads_as: String },
    /// The name that the operator gave itself is another domain.
    NameClaimsDomain { claimed: String },
}

/// Every warning about `domain`, the most serious first.
pub fn examine(domain: &Domain, name: &PlainLine, connected: &[Domain], service: Option<&Domain>) -> Vec<Warning> {
    let known = connected.iter().filter(|known| is_lookalike(domain, known));
    let mut warnings: Vec<Warning> =
        known.map(|known| Warning::LooksLikeConnected { connected: known.clone() }).collect();
    let own = service.filter(|service| is_lookalike(domain, service));
    warnings.extend(own.map(|service| Warning::LooksLikeService { service: service.clone() }));
    let trusted = connected.iter().chain(service).filter(|trusted| embeds(domain, trusted));
    warnings.extend(trusted.map(|trusted| Warning::Embeds { trusted: trusted.clone() }));
    warnings.extend(domain.to_unicode().split('.').filter_map(examine_label));
    warnings.extend(claimed_domain(domain, name));
    warnings.dedup();
    warnings
}

impl Warning {
    pub fn text(&self, frame: &Frame) -> String {
        match self {
            Warning::LooksLikeConnected { connected } => {
                frame.say_of("warning-looks-like-connected", "domain", connected.as_str())
            }
            Warning::LooksLikeService { service } => {
                frame.say_of("warning-looks-like-service", "domain", service.as_str())
            }
            Warning::Embeds { trusted } => frame.say_of("warning-embeds", "domain", trusted.as_str()),
            Warning::MixedScripts { label } => {
                frame.say_both("warning-mixed-scripts", ("label", label), ("letters", &foreign_letters(label)))
            }
            Warning::ReadsAsLatin { label, reads_as } => {
                frame.say_both("warning-reads-as-latin", ("latin", reads_as), ("letters", &foreign_letters(label)))
            }
            Warning::NameClaimsDomain { claimed } => frame.say_of("warning-name-claims-domain", "domain", claimed),
        }
    }
}

fn examine_label(label: &str) -> Option<Warning> {
    if label.is_ascii() {
        return None;
    }
    if !label.is_single_script() {
        return Some(Warning::MixedScripts { label: label.to_owned() });
    }
    let reads_as: String = skeleton(label).collect();
    reads_as.is_ascii().then(|| Warning::ReadsAsLatin { label: label.to_owned(), reads_as })
}

/// The foreign letters with their code points: neither the eye nor a screen reader can tell them apart.
fn foreign_letters(label: &str) -> String {
    let foreign = label.chars().filter(|c| !c.is_ascii());
    foreign.map(|c| format!("{c} (U+{:04X})", u32::from(c))).collect::<Vec<_>>().join(", ")
}

/// Whether the two domains, or suffixes of them with equally many labels, differ and yet read the same.
///
/// Suffixes are compared so that `login.paypa1.example` is recognised as a lookalike of `paypal.example`.
fn is_lookalike(domain: &Domain, trusted: &Domain) -> bool {
    let (ours, theirs) = (domain.to_unicode(), trusted.to_unicode());
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.rsplit('.').collect(), theirs.rsplit('.').collect());
    let ends = (2..=ours.len().min(theirs.len())).filter_map(|n| Some((ours.get(..n)?, theirs.get(..n)?)));
    ends.into_iter().any(|(a, b)| a != b && a.iter().map(|l| as_read(l)).eq(b.iter().map(|l| as_read(l))))
}

/// A label as the eye reads it: the skeleton of UTS 39, plus pairs of Latin letters that run together.
fn as_read(label: &str) -> String {
    // The skeleton of 0 is a capital O and that of m is rn, so case is folded afterwards.
    let read = skeleton(label).collect::<String>().to_lowercase();
    read.replace("vv", "w").replace("cl", "d").replace('1', "l").replace('0', "o")
}

/// Whether `domain` contains `trusted`, but not as its suffix, which is the part that names the owner.
fn embeds(domain: &Domain, trusted: &Domain) -> bool {
    let inside = format!(".{}.", trusted.as_str());
    !trusted.covers(domain.as_str()) && format!(".{}", domain.as_str()).contains(&inside)
}

/// A domain in the operator's name, unless it belongs to the verified one.
fn claimed_domain(domain: &Domain, name: &PlainLine) -> Option<Warning> {
    let edge = |c: char| !c.is_alphanumeric();
    let words = name.as_str().split(|c: char| c.is_whitespace() || matches!(c, '/' | '@' | '(' | ')' | ',' | ':'));
    let domains = words.filter_map(|word| Domain::parse(&word.trim_matches(edge).to_lowercase()).ok());
    let foreign = |claimed: &Domain| !claimed.covers(domain.as_str()) && !domain.covers(claimed.as_str());
    let claimed = domains.into_iter().find(foreign)?;
    Some(Warning::NameClaimsDomain { claimed: claimed.as_str().to_owned() })
}
