//! Documents that only we write: bus events and learning samples.

use super::documents::{self, with, without};
use crate::mplp_judge;
use countersign_protocol::{
    mplp::{
        BusEvent, DecisionStatus, ExecutionStatus, ExecutorKind, Feedback, LearningSample, MplpId, Sample, StageStatus,
        TargetType, UpdateKind,
        learning::{ConfirmInput, ConfirmOutput, IntentInput, IntentOutput, Judgement, SampleMeta},
    },
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

const NOW: UnixMillis = UnixMillis(1_765_065_600_125);

fn id(n: u8) -> MplpId {
    MplpId::from_random([n; 16])
}

#[test]
fn every_event_that_can_be_made_passes_every_judge() {
    let stage = |status| {
        let event = BusEvent::pipeline_stage(id(1), "confirm_resolved", NOW, id(2), "confirm", status);
        event.with_payload(Map::from_iter([("status".into(), json!("approved"))])).in_project(id(3))
    };
    let stages =
        [StageStatus::Completed, StageStatus::Failed, StageStatus::Skipped, StageStatus::Pending, StageStatus::Running];
    let update = BusEvent::graph_update(id(1), "plan_created", NOW, id(2), UpdateKind::NodeAdd, (3, -2), "plan");
    let run = BusEvent::runtime_execution(
        id(1),
        "execution_started",
        NOW,
        id(2),
        ExecutorKind::Tool,
        ExecutionStatus::Running,
    );
    let mut documents: Vec<(&str, Value)> =
        stages.iter().map(|status| ("pipeline-stage", serde_json::to_value(stage(*status)).unwrap())).collect();
    documents.push(("graph-update", serde_json::to_value(&update).unwrap()));
    documents.push(("runtime-execution", serde_json::to_value(&run).unwrap()));
    let all: Vec<(&str, Value)> = documents.iter().map(|(_, event)| ("bus-event", event.clone())).collect();
    mplp_judge::judge(&[documents, all].concat());
    for event in [stage(StageStatus::Failed), update, run] {
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<BusEvent>(written).unwrap(), event);
    }
}

#[test]
fn an_event_lacks_nothing_that_its_family_demands() {
    let demanded = [
        (
            "pipeline-stage",
            vec!["event_id", "event_type", "event_family", "timestamp", "pipeline_id", "stage_id", "stage_status"],
        ),
        ("graph-update", vec!["graph_id", "update_kind", "node_delta", "edge_delta"]),
        ("runtime-execution", vec!["execution_id", "executor_kind", "status"]),
        ("learning-sample", vec!["sample_id", "sample_family", "created_at", "input", "output"]),
        ("learning-sample-intent", vec!["input/intent_id", "input/raw_request_summary", "output/final_intent_summary"]),
    ];
    for (name, members) in demanded {
        for member in members {
            let spoiled = without(documents::document(name), &format!("/{member}"));
            assert!(!mplp_judge::problems(name, &spoiled).is_empty(), "{name} without {member}");
        }
    }
    let other = with(documents::document("pipeline-stage"), "/event_family", json!("graph_update"));
    assert!(!mplp_judge::problems("pipeline-stage", &other).is_empty());
}

fn intent(decided: DecisionStatus) -> LearningSample {
    let input = IntentInput {
        intent_id: id(1).to_string(),
        raw_request_summary: "Repair it".into(),
        intent_text: "Repair it".into(),
        context: None,
    };
    let output = IntentOutput {
        final_intent_summary: "Repair it".into(),
        plan_id: id(1),
        plan_step_count: 0,
        plan_structure: Vec::new(),
        resolution_quality_label: decided.into(),
    };
    sample(decided, Sample::IntentResolution { input, output })
}

fn confirm(decided: DecisionStatus) -> LearningSample {
    let input =
        ConfirmInput { confirm_id: id(2), target_type: TargetType::Plan, target_id: id(1), risk_label: "high".into() };
    let output = ConfirmOutput { decision: Judgement::Approve, reasoning: None, decided_by_role: "reviewer".into() };
    sample(decided, Sample::ConfirmDecision { input, output })
}

fn sample(decided: DecisionStatus, sample: Sample) -> LearningSample {
    let label = Some(decided.into());
    let meta = SampleMeta { human_feedback_label: label, source_event_ids: vec![id(4)], ..SampleMeta::default() };
    let feedback = Feedback::of(decided, Some("why"));
    LearningSample { sample_id: id(3), created_at: NOW, sample, meta, feedback }
}

#[test]
fn every_sample_that_can_be_made_passes_every_judge() {
    let mut documents = Vec::new();
    for decided in [DecisionStatus::Approved, DecisionStatus::Rejected, DecisionStatus::Cancelled] {
        let (intent, confirm) = (intent(decided), confirm(decided));
        documents.push(("learning-sample-intent", serde_json::to_value(&intent).unwrap()));
        documents.push(("learning-sample", serde_json::to_value(&intent).unwrap()));
        documents.push(("learning-sample", serde_json::to_value(&confirm).unwrap()));
        for sample in [intent, confirm] {
            let written = serde_json::to_value(&sample).unwrap();
            assert_eq!(serde_json::from_value::<LearningSample>(written).unwrap(), sample);
        }
    }
    mplp_judge::judge(&documents);
}

/// M-12, M-14: feedback uses the words of the text, labels those of the schema; without a review there is no feedback.
#[test]
fn a_sample_has_the_persons_answer() {
    let labels = |decided| {
        let written = serde_json::to_value(intent(decided)).unwrap();
        let text = |place| written.pointer(place).and_then(Value::as_str).map(str::to_owned);
        let places = ["/feedback/type", "/feedback/quality_label", "/output/resolution_quality_label"];
        (places.map(text), text("/meta/human_feedback_label").unwrap())
    };
    let some = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned()));
    assert_eq!(labels(DecisionStatus::Approved), (some(["approval", "good", "good"]), "approved".into()));
    assert_eq!(labels(DecisionStatus::Rejected), (some(["rejection", "poor", "bad"]), "rejected".into()));
    let cancelled = ([None, None, Some("unknown".to_owned())], "not_reviewed".to_owned());
    assert_eq!(labels(DecisionStatus::Cancelled), cancelled);
}
