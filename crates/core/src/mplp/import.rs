//! Imports approval records of other systems. They are read-only and authorize nothing (M-07, R-14).

use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    records::{ImportedConfirm, Record},
    refusal::Refusal,
    step::{Effects, Guard, Operation, Step},
};
use countersign_protocol::mplp::{Confirm, ConfirmStatus};

pub struct Import {
    pub principal: String,
    pub document: Confirm,
}

pub struct ImportView {
    pub place: ProjectRef,
    /// Whether a Confirm with this id exists, native or imported.
    pub known: bool,
    pub guards: Vec<Guard>,
}

impl Operation for Import {
    type View = ImportView;
    type Answer = ImportedConfirm;
    type Refusal = Refusal;

    fn decide(self, view: &ImportView, env: &Env) -> Result<Step<ImportedConfirm>, Refusal> {
        if view.known {
            return Err(Refusal::Conflict("a Confirm of this id is here already".into()));
        }
        let mut mint = env.mint();
        let kept = ImportedConfirm {
            key: mint.key(),
            version: 1,
            project: view.place.0,
            id: self.document.confirm_id.clone(),
            principal: self.principal,
            imported_at: env.now,
            document: with_last_status(self.document),
        };
        let entry = DraftEntry::new((view.place.0, &view.place.1), "confirm_imported", env.now)
            .open("confirm_id", kept.id.as_str())
            .open("principal", kept.principal.as_str());
        let effects = Effects {
            guards: view.guards.clone(),
            evidence: vec![entry.seal(&mut mint)?],
            puts: vec![Record::ImportedConfirm(kept.clone())],
            ..Effects::default()
        };
        Ok(Step { answer: kept, effects })
    }
}

/// A history with several decisions has the status of the last one.
fn with_last_status(mut document: Confirm) -> Confirm {
    if let Some(last) = document.decisions.last() {
        document.status = ConfirmStatus::from(last.status);
    }
    document
}
