//! Finding gaps in a plan, and verifying a long chain: CPU time in this process, as ratios.
//!
//! The lower bound of a chain is its signatures: two a round and one over all of it, each verified strictly.

use crate::gateway::one_verification;
use anyhow::Context as _;
use countersign_engine::clarification_rules::Rules;
use countersign_jose::{
    KeyPolicy,
    clarification::{AgentKey, Registry, check_record, verify},
};
use countersign_protocol::{
    clarification::{
        AnsweredBy, ChainEntry, ClarificationPolicy, DigestText, Gap, GivenBy, Operation, PublicKey, Record, Round,
        Severity, Signature, Stamp,
        signed::{self, AnswerBody, AskBody, ChainBody},
    },
    hash::Digest,
    mplp::MplpId,
    time::UnixMillis,
};
use serde_json::{Map, Value, json};
use std::{hint::black_box, time::Duration};

const FIELDS: usize = 200;
const RULES: usize = 500;
const LOOKS: u32 = 200;
const ROUNDS: u64 = 10_000;
const BATCHES: usize = 5;

pub(crate) fn run() -> anyhow::Result<()> {
    let unit = one_verification()?;
    println!("Clarifications");
    println!("  V (one ES256 verification)                 {:11.2} µs", micros(unit));
    let (clear, unclear) = (find_gaps(false)?, find_gaps(true)?);
    println!(
        "  {FIELDS} fields, {RULES} rules, nothing found         {:11.2} µs {:8.2} V",
        micros(clear),
        ratio(clear, unit)
    );
    println!(
        "  {FIELDS} fields, {RULES} rules, 40 gaps found         {:11.2} µs {:8.2} V",
        micros(unclear),
        ratio(unclear, unit)
    );
    println!("  making a chain of {ROUNDS} rounds ...");
    let (document, key) = chain()?;
    let strict = one_strict(&key)?;
    let signatures = u32::try_from(2 * ROUNDS + 1)?;
    let whole = proving(&document)?;
    println!("  one strict Ed25519 verification            {:11.2} µs {:8.2} V", micros(strict), ratio(strict, unit));
    println!("  its {signatures} signatures alone              {:11.2} ms", micros(strict * signatures) / 1e3);
    println!(
        "  proving the chain                          {:11.2} ms {:8.2} of its signatures",
        micros(whole) / 1e3,
        ratio(whole, strict * signatures)
    );
    Ok(())
}

fn find_gaps(unclear: bool) -> anyhow::Result<Duration> {
    let rules = Rules::compile(&policy()?).map_err(|why| anyhow::anyhow!("{why}"))?;
    let plan = plan(unclear);
    let found = rules.findings(&plan).map_err(|why| anyhow::anyhow!("{why}"))?.len();
    anyhow::ensure!(found == if unclear { 40 } else { 0 }, "the plan has {found} gaps");
    median(LOOKS, || {
        black_box(rules.findings(black_box(&plan)).is_ok());
        Ok(())
    })
}

/// Ten parts of twenty fields; half of an unclear part's first eight are missing, the others vague.
fn plan(unclear: bool) -> Value {
    let part = |part: usize| {
        let fields = (0..FIELDS / 10).filter_map(|field| {
            let name = format!("field_{field:02}");
            match field {
                0 | 1 if unclear => None,
                2 | 3 if unclear => Some((name, json!("use the ordinary thing"))),
                _ => Some((name, json!(format!("value {field} of part {part}, which is plain enough to be read")))),
            }
        });
        (format!("part_{part:02}"), Value::Object(fields.collect::<Map<_, _>>()))
    };
    Value::Object((0..10).map(part).collect())
}

/// A rule of presence for each field, and rules that search for phrases, languages, overlaps and inputs.
fn policy() -> anyhow::Result<ClarificationPolicy> {
    let rule = |n: usize| {
        let (part, field) = (n % 10, n / 10 % 20);
        let path = format!("part_{part:02}.field_{field:02}");
        let mut rule = match n {
            0..200 => json!({ "kind": "required", "field": path }),
            200..300 => json!({ "kind": "ambiguous", "fields": [path],
                                "phrases": ["ordinary thing", format!("whatever {n}"), format!("as in case {n}")] }),
            300..400 => json!({ "kind": "input", "field": path, "equals": ["real", n], "needs": [format!("out_{n}")] }),
            400..450 => json!({ "kind": "layout", "field": path, "languages": ["ar", "he"],
                                "layout_in": format!("layout_{n}"), "layout": "rtl" }),
            _ => json!({ "kind": "overlap", "field": path, "confirmed_in": format!("overlaps_{n}"),
                         "pairs": [{ "selected": format!("a{n}"), "overlaps": format!("b{n}") }] }),
        };
        rule["id"] = json!(format!("rule-{n}"));
        rule["question"] = json!("What is {field} to be?");
        rule["context"] = json!("It decides what is made.");
        rule
    };
    let rules: Vec<Value> = (0..RULES).map(rule).collect();
    serde_json::from_value(json!({ "pack": false, "rules": rules })).context("the rules")
}

/// A chain like that of a real session, every answer signed.
fn chain() -> anyhow::Result<(Value, AgentKey)> {
    let key = AgentKey::from_seed([7; 32]);
    let id = MplpId::from_random([9; 16]);
    let plan_digest = Digest::of(b"plan");
    let mut head = signed::genesis(&id, &plan_digest);
    let mut chain = Vec::new();
    for n in 1..=ROUNDS {
        let entry = ChainEntry::Round(round(n, &id, &key, DigestText(plan_digest), DigestText(head))?).sealed()?;
        head = entry.entry_hash().0;
        chain.push(entry);
    }
    let body = ChainBody {
        session_id: id.clone(),
        total_rounds: ROUNDS,
        all_resolved: true,
        head: DigestText(head),
        signed_at: at(2 * ROUNDS + 1),
        agent_id: AGENT.into(),
        agent_public_key: key.public_key(),
    };
    let record = Record {
        session_id: id,
        chain,
        total_rounds: ROUNDS,
        all_resolved: true,
        agent_id: AGENT.into(),
        agent_public_key: key.public_key(),
        plan_digest: DigestText(plan_digest),
        signed_at: body.signed_at.clone(),
        chain_signature: key.sign_body(&body)?,
    };
    Ok((serde_json::to_value(record)?, key))
}

const AGENT: &str = "countersign-bench";

fn round(n: u64, id: &MplpId, key: &AgentKey, plan_digest: DigestText, prev: DigestText) -> anyhow::Result<Round> {
    let ask = AskBody {
        session_id: id.clone(),
        round: n,
        agent_id: AGENT.into(),
        agent_public_key: key.public_key(),
        ask_timestamp: at(2 * n),
        gap: gap(n),
        plan_digest,
        prev,
    };
    let by = AnsweredBy { agent_id: AGENT.into(), public_key: key.public_key(), attested: false };
    let answer = AnswerBody {
        session_id: id.clone(),
        round: n,
        gap_id: ask.gap.id.clone(),
        answer: format!("account {n}"),
        answer_timestamp: at(2 * n + 1),
        answered_by: by,
        ask_hash: signed::ask_hash(&ask)?,
    };
    Ok(Round {
        round: n,
        ask_signature: key.sign_body(&ask)?,
        answer_signature: key.sign_body(&answer)?,
        ask_timestamp: ask.ask_timestamp,
        gap: ask.gap,
        answer_timestamp: answer.answer_timestamp,
        answer: answer.answer,
        answered_by: answer.answered_by,
        resolved: true,
        plan_digest: Some(plan_digest),
        agent_public_key: Some(key.public_key()),
        given_by: Some(GivenBy::Own),
        decision_id: None,
        prev,
        entry_hash: DigestText(Digest([0; 32])),
    })
}

fn gap(n: u64) -> Gap {
    Gap {
        id: format!("gap-{n:03}"),
        field: format!("steps[{n}].account"),
        pointer: Some(format!("/steps/{n}/account")),
        severity: Severity::Block,
        question: "Which account is to be charged?".into(),
        context: "The step pays somebody, and names no account.".into(),
        suggestions: vec!["main".into(), "savings".into()],
        suggestions_exclusive: false,
        blocked_operations: vec![Operation::Planner, Operation::Build],
        person_must_answer: false,
    }
}

fn at(second: u64) -> Stamp {
    Stamp::of(UnixMillis::from_secs(1_780_000_000 + i64::try_from(second).unwrap_or_default()))
}

fn proving(document: &Value) -> anyhow::Result<Duration> {
    let registry = Registry::new(KeyPolicy { allow_published_test_keys: false });
    median(1, || check_record(black_box(document), &registry).map(drop).map_err(|why| anyhow::anyhow!("{why}")))
}

/// Over as many bytes as a question has.
fn one_strict(key: &AgentKey) -> anyhow::Result<Duration> {
    let input = [b'x'; 800];
    let (public, signature): (PublicKey, Signature) = (key.public_key(), key.sign(&input));
    median(2_000, || verify(black_box(&public), black_box(&input), &signature).map_err(|why| anyhow::anyhow!("{why}")))
}

/// The CPU time of one run, as the median of several batches.
fn median(count: u32, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let mut batches = Vec::new();
    for _ in 0..BATCHES {
        let before = crate::cpu::of_process("self")?;
        for _ in 0..count {
            work()?;
        }
        batches.push(crate::cpu::of_process("self")?.saturating_sub(before) / count);
    }
    batches.sort();
    batches.get(BATCHES / 2).copied().context("no batch")
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn ratio(time: Duration, unit: Duration) -> f64 {
    time.as_secs_f64() / unit.as_secs_f64()
}
