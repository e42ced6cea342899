//! The service's own texts about a request for further scopes.

use super::{Glue, RunTexts};
use countersign_protocol::{aaep::event::Summaries, question::RequestedScopes};

pub fn expansion_texts(shown: &RequestedScopes, operator: Option<&str>, language: &str) -> RunTexts {
    let glue = Glue::of(language);
    let described = shown.scopes.iter().map(|scope| format!("{} ({})", scope.description, scope.id));
    let scopes = described.collect::<Vec<_>>().join("; ");
    let action = format!("{} {scopes}", glue.say("Allow more for one task:", "Für eine Aufgabe mehr erlauben:"));
    let until = shown.until.to_rfc3339();
    let consequence = match glue.language() {
        "de" => format!(
            "Die Aufgabe darf das dann bis {until} oder bis zu ihrem Ende, je nachdem, was zuerst kommt. Die Zustimmung zu \
             der Aufgabe umfasst es nicht, der Zugang ihres Betreibers schon. Aufrufe, die eine Genehmigung brauchen, \
             werden weiterhin angehalten."
        ),
        _ => format!(
            "The task may then do this until {until} or until it ends, whichever is first. The consent to the task does \
             not include it; the access of its operator does. Calls that need an approval are still held."
        ),
    };
    let requested = glue.requested_by(operator);
    let parts = [format!("{action}."), consequence.clone(), requested];
    let summaries =
        Summaries { terse: Some(action.clone()), normal: Some(parts.join(" ")), detailed: Some(parts.join("\n")) };
    RunTexts { action, consequence, summaries }
}
