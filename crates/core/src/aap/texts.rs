//! Default disclosure texts, for use without an operator's or project's own, in the languages of the pages.

use countersign_protocol::domain::Domain;

/// Most words for scope descriptions, so that the whole text stays below 150.
const GRANTED_WORDS: usize = 60;

/// The agent's permissions and limits, liability for harm, and a contact (AAP 14.4). At most 150 words, in plain
/// language.
pub fn liability(operator: &Domain, contact: Option<&str>, granted: &[&str], language: &str) -> String {
    let can = granted.join("; ");
    let fits = !can.is_empty() && can.split_whitespace().count() <= GRANTED_WORDS;
    let contact = contact.unwrap_or(operator.as_str());
    match language {
        "de" => format!(
            "Das kann dieser Agent tun: {}. Sonst kann er hier nichts tun. Wenn er Schaden anrichtet oder Daten verloren \
             gehen, muss {operator} das aufklären und in Ordnung bringen; schreiben Sie an {contact}. Auf \
             Ihrer Seite der verbundenen Agenten können Sie ihm den Zugang jederzeit entziehen. Was er bis dahin getan \
             hat, lässt sich vielleicht nicht rückgängig machen.",
            if fits { can.as_str() } else { "alles, was hier als Erlaubnis aufgezählt ist" }
        ),
        _ => format!(
            "This agent can do this: {}. It cannot do anything else here. If it does something harmful or loses data, \
             {operator} is responsible for looking into it and putting it right; write to {contact}. You can \
             revoke its access at any time on your page of connected agents. What it did before that may not be reversible.",
            if fits { can.as_str() } else { "everything that is listed here as a permission" }
        ),
    }
}

/// The placeholder of a service account's disclosure for the description in its token (AAP 11.5).
pub const GRANTED_DESCRIPTION: &str = "{granted_scope.description}";

/// The meaning of acting with fixed credentials (AAP 11.5).
pub fn service_account(language: &str) -> &'static str {
    match language {
        "de" => {
            "Dieser Agent benutzt einen festen Zugang, den eine Administratorin oder ein Administrator genehmigt hat. Er \
             handelt nicht als Sie persönlich. Sein Zugang ist begrenzt auf: {granted_scope.description}."
        }
        _ => {
            "This agent uses fixed credentials that an admin approved. It does not act as you personally. Its access is \
             limited to: {granted_scope.description}."
        }
    }
}

/// The meaning of acting as a person (AAP 11.5).
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
