//! The six algorithms that AAP 20.4 permits, and no others.

/// The signature algorithm of a JWT. Symmetric algorithms, `none` and others that AAP does not list have no variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    ES256,
    ES384,
    PS256,
}

/// The kind of key that an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Rsa,
    P256,
    P384,
}

impl Algorithm {
    /// Names are case-sensitive (RFC 7515 4.1.1).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::RS256),
            "RS384" => Some(Self::RS384),
            "RS512" => Some(Self::RS512),
            "ES256" => Some(Self::ES256),
            "ES384" => Some(Self::ES384),
            "PS256" => Some(Self::PS256),
            _ => None,
        }
    }

    pub(crate) fn family(self) -> Family {
        match self {
            Self::RS256 | Self::RS384 | Self::RS512 | Self::PS256 => Family::Rsa,
            Self::ES256 => Family::P256,
            Self::ES384 => Family::P384,
        }
    }

    pub(crate) fn to_jsonwebtoken(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::RS256 => jsonwebtoken::Algorithm::RS256,
            Self::RS384 => jsonwebtoken::Algorithm::RS384,
            Self::RS512 => jsonwebtoken::Algorithm::RS512,
            Self::ES256 => jsonwebtoken::Algorithm::ES256,
            Self::ES384 => jsonwebtoken::Algorithm::ES384,
            Self::PS256 => jsonwebtoken::Algorithm::PS256,
        }
    }
}
