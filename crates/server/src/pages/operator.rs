//! An operator as people see it: the verified domain is the identity, its self-chosen name is decoration.

use super::PlainLine;
use countersign_protocol::domain::Domain;

/// The domain is the identity; the self-chosen name proves nothing (AAP 13.2).
#[derive(Clone, Debug)]
pub struct OperatorLabel {
    pub domain: Domain,
    pub name: PlainLine,
}

impl OperatorLabel {
    pub fn new(domain: Domain, name: &str) -> Self {
        Self { domain, name: PlainLine::cut(name, 60) }
    }

    /// The labels with their dots, so that a long domain breaks between them. It is never cut.
    pub(super) fn pieces(&self) -> Vec<&str> {
        self.domain.as_str().split_inclusive('.').collect()
    }

    /// The Unicode form of the domain, if it differs from the ASCII form.
    pub(super) fn unicode(&self) -> Option<String> {
        Some(self.domain.to_unicode()).filter(|u| u != self.domain.as_str())
    }
}
