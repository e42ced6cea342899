//! The explanation as text: one line per fact.

use crate::table::printable;
use countersign_server::admin::held::{Explanation, HoldTerms};

pub(super) fn text(explained: &Explanation) -> String {
    let mut lines = vec![
        format!("route {}, action {}", explained.route, explained.action),
        format!("scope: {}", one_of(&explained.scopes)),
        format!("intent type: {}", one_of(&explained.intent_types)),
        format!("trust tier: {} or more", explained.tier),
        format!("proof of possession (DPoP): {}", if explained.proof { "needed" } else { "not needed" }),
        format!("counts as: {}", if explained.writes { "writing" } else { "reading" }),
        format!("dry run: {}", if explained.dry_run { "offered" } else { "refused" }),
        format!("headers that are covered and passed on: {}", all_of(&explained.headers)),
        format!("upstream: {}", explained.upstream.as_deref().unwrap_or("none, so the gateway cannot forward it")),
    ];
    lines.extend(explained.resource.as_ref().map(|resource| format!("resource: {resource}")));
    match (&explained.held, &explained.problem) {
        (Some(held), _) => lines.extend(waits(held)),
        (None, None) if explained.speculative => lines.push("held: no, it is forwarded at once".into()),
        (None, None) => lines.push("held: no, it is forwarded once its entry is durable".into()),
        (None, Some(_)) => {}
    }
    lines.extend(explained.problem.as_ref().map(|problem| format!("refused: {problem}")));
    lines.iter().map(|line| printable(line) + "\n").collect()
}

fn waits(held: &HoldTerms) -> Vec<String> {
    let mut lines = vec![
        format!("held: until a person approves exactly this, because {}", held.why.join(", and ")),
        format!("risk: {}", format!("{:?}", held.risk).to_lowercase()),
        format!("can be undone: {}", if held.irreversible { "no" } else { "yes" }),
        format!("approvers: {}", held.asked.join(", ")),
        format!("an answer must be proven by: {} or better", held.assurance),
        format!("time to answer: {} s; an approval lasts {} s", held.timeout_s, held.allowance_s),
    ];
    if !held.self_asserted.is_empty() {
        lines.push(format!("under {} the agent's own confirmation is enough", held.self_asserted.join(", ")));
    }
    lines.extend(held.effect.as_ref().map(|effect| format!("runs once, in any request: {effect}")));
    if let Some(question) = &held.question {
        lines.push("text for people".into());
        let forms = [
            ("action", &question.action),
            ("consequence", &question.consequence),
            ("terse", &question.terse),
            ("normal", &question.normal),
        ];
        lines.extend(forms.map(|(form, text)| format!("  {form}: {}", text.replace('\n', " / "))));
        lines.push("  detailed:".into());
        lines.extend(question.detailed.lines().map(|line| format!("    {line}")));
    }
    lines
}

fn one_of(list: &[String]) -> String {
    match list {
        [] => "none".into(),
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn all_of(list: &[String]) -> String {
    if list.is_empty() { "none but the content type and encoding".into() } else { list.join(", ") }
}
