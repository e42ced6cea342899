//! What people are told where neither operator nor project has words of their own, in the languages of the pages.

use countersign_protocol::domain::Domain;

/// Who answers for harm (AAP 14.4). At most 150 words, in plain language.
pub fn liability(operator: &Domain, language: &str) -> String {
    match language {
        "de" => format!(
            "Wenn dieser Agent Schaden anrichtet oder Daten verloren gehen, muss {operator} das aufklären und in Ordnung \
             bringen. Auf Ihrer Seite der verbundenen Agenten können Sie ihm den Zugang jederzeit entziehen. Was er bis \
             dahin getan hat, lässt sich vielleicht nicht rückgängig machen."
        ),
        _ => format!(
            "If this agent does something harmful or loses data, {operator} is responsible for looking into it and putting \
             it right. You can cut the agent off at any time on your page of connected agents. What it did before that \
             may not be reversible."
        ),
    }
}

/// What acting as a person means (AAP 11.5).
pub fn user_delegated(language: &str) -> &'static str {
    match language {
        "de" => {
            "Dieser Agent handelt als Sie, mit Ihrem eigenen Zugang. Er kann nur sehen, was Sie sehen können, und andere \
             Menschen bekommen andere Antworten."
        }
        _ => {
            "This agent acts as you, with your own access. It can only see what you can see, and other people get other \
             answers."
        }
    }
}
