//! Evidence bundles of approved calls: exported from a running node, and verified with nothing but the file.

use countersign_evidence::{
    bundle::{self, Bundle, Disclosed, Report, Subject, SubjectKind},
    note::VerifierKey,
};
use countersign_jose::EvidenceCrypto;
use countersign_testkit::{bank::BankFixture, on_both_stores, on_sqlite};
use serde_json::Value;

fn id(decision: &Value) -> &str {
    decision["decision_id"].as_str().expect("a decision's id")
}

/// What the log has, as the command line exports it.
async fn exported(scene: &BankFixture, kind: SubjectKind, id: &str, withheld: &[&str]) -> Result<Bundle, String> {
    let engine = &scene.plane.engine;
    let project = engine.projects().await.unwrap().remove(0);
    let withheld: Vec<String> = withheld.iter().map(|name| (*name).to_owned()).collect();
    let subject = Subject { kind, id: id.to_owned() };
    engine.evidence().bundle(&project, subject, &withheld).await.map_err(|why| why.to_string())
}

async fn key(scene: &BankFixture) -> VerifierKey {
    let project = scene.plane.engine.projects().await.unwrap().remove(0);
    let keys = scene.plane.engine.evidence().verifier_keys(project.key).await.unwrap();
    keys.into_iter().next_back().unwrap().0
}

fn judged(bundle: &Bundle, keys: &[VerifierKey]) -> Result<Report, String> {
    let file = bundle.to_json().to_string();
    bundle::verify(&EvidenceCrypto, file.as_bytes(), keys).map_err(|fault| fault.to_string())
}

/// The sentence about the only entry with this beginning.
fn told<'r>(report: &'r Report, part: &str) -> &'r str {
    let found: Vec<&str> =
        report.story.iter().map(|told| told.text.as_str()).filter(|text| text.contains(part)).collect();
    let [one] = found.as_slice() else { panic!("{} sentences with {part}: {report:#?}", found.len()) };
    one
}

/// A transfer that was approved and ran.
async fn transferred(scene: &BankFixture) -> Value {
    let decision = BankFixture::decision(&scene.sends(BankFixture::transfer()).await);
    scene.alice.accepts(&scene.plane, &decision).await;
    scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
    decision
}

on_both_stores! {
    ///
    async fn the_bundle_of_a_transfer_proves_question_answer_claim_and_outcome(kit) {
        let scene = kit.bank().await;
        let decision = transferred(&scene).await;
        let bundle = exported(&scene, SubjectKind::Decision, id(&decision), &[]).await.unwrap();
        let report = judged(&bundle, &[key(&scene).await]).unwrap();
        assert!(report.key_is_trusted && report.unproven.is_empty(), "{report:#?}");
        for part in ["was given to", "opened a session", "ended as committed", "is exactly the one that the question was about"] {
            told(&report, part);
        }
        assert!(told(&report, "A question was put").contains("Transfer"), "{report:#?}");
        assert!(told(&report, "The question ended").contains("ended as accepted, decided by alice"), "{report:#?}");
        told(&report, "is the text with the digest question_sha256");
        // The question itself, as it was rendered.
        let question: Value = serde_json::from_str(&bundle.documents[0].text).unwrap();
        assert_eq!(question["decision_id"], decision["decision_id"]);
        assert!(question["question"].to_string().contains("Transfer"), "{question:#}");
        // The same by the id of its execution, and nothing of another call.
        let claim = bundle.leaves.iter().find(|leaf| leaf.leaf.contains("\"event_type\":\"execution_claimed\"")).unwrap();
        let claim: Value = serde_json::from_str(&claim.leaf).unwrap();
        let execution = claim["execution_id"].as_str().unwrap();
        let by_execution = exported(&scene, SubjectKind::Execution, execution, &[]).await.unwrap();
        let indexes = |bundle: &Bundle| bundle.leaves.iter().map(|leaf| leaf.index).collect::<Vec<_>>();
        assert_eq!(indexes(&by_execution), indexes(&bundle));
    }
}

on_sqlite! {
    ///
    async fn erased_and_withheld_members_are_marked_and_everything_else_stays_proven(kit) {
        let scene = kit.bank().await;
        let decision = transferred(&scene).await;
        let withheld = exported(&scene, SubjectKind::Decision, id(&decision), &["decided_by"]).await.unwrap();
        let report = judged(&withheld, &[]).unwrap();
        assert!(told(&report, "The question ended").contains("decided by [withheld]"), "{report:#?}");
        let (engine, project) = (&scene.plane.engine, scene.plane.engine.projects().await.unwrap().remove(0));
        for lane in engine.store().lane_heads(project.key).await.unwrap() {
            for pos in 0..=lane.next_seq + 8 {
                engine.store().erase(project.key, lane.lane, pos).await.unwrap();
            }
        }
        let erased = exported(&scene, SubjectKind::Decision, id(&decision), &[]).await.unwrap();
        let openings = erased.leaves.iter().flat_map(|leaf| leaf.openings.values());
        assert!(openings.clone().count() > 5 && openings.into_iter().all(|opening| *opening == Disclosed::Erased));
        let report = judged(&erased, &[]).unwrap();
        assert!(told(&report, "The question ended").contains("ended as accepted, decided by [erased]"), "{report:#?}");
    }

    async fn sessions_and_delegations_have_bundles_and_unknown_ids_have_none(kit) {
        let scene = kit.bank().await;
        transferred(&scene).await;
        let delegation = scene.connected.delegation_id.as_str();
        let whole = exported(&scene, SubjectKind::Delegation, delegation, &[]).await.unwrap();
        assert!(judged(&whole, &[]).unwrap().unproven.is_empty());
        let session = whole.leaves.iter().find_map(|leaf| leaf.openings.get("session_id"));
        let Some(Disclosed::Opened { value, .. }) = session else { panic!("no session in {whole:#?}") };
        let session: String = serde_json::from_str(value).unwrap();
        let of_session = exported(&scene, SubjectKind::Session, &session, &[]).await.unwrap();
        assert!(judged(&of_session, &[]).unwrap().unproven.is_empty());
        for kind in SubjectKind::ALL {
            assert!(exported(&scene, kind, "no", &[]).await.is_err(), "{kind:?}");
        }
    }
}
