//! Request documents, parsed as strictly as MPLP's: an error names the invalid member.

use crate::mplp::requests::MplpDocument;
use countersign_protocol::{
    clarification::submission::{CheckRequest, ResolveRequest, SessionRequest},
    mplp::{BadDocument, submission::MAX_PLAN_BYTES},
};

impl MplpDocument for CheckRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }

    /// The same maximum as where the plan is written.
    fn most(_: usize) -> usize {
        MAX_PLAN_BYTES + FRAME_BYTES
    }
}

/// Bytes besides the plan: member names and a session id.
const FRAME_BYTES: usize = 1024;

impl MplpDocument for ResolveRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}

impl MplpDocument for SessionRequest {
    fn read(bytes: &[u8]) -> Result<Self, BadDocument> {
        Self::read(bytes)
    }
}
