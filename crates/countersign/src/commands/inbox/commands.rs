//! Commands typed while the inbox runs.

/// One parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InboxCommand {
    Nothing,
    List,
    Help,
    Quit,
    Answer {
        question: String,
        text: String,
    },
    /// More time, with an optional number of seconds.
    MoreTime {
        question: String,
        seconds: Option<i64>,
    },
    /// The line does not begin with a question.
    Unknown,
}

/// The default extension in seconds.
pub(super) const MORE_S: i64 = 300;

pub(super) const HELP: &[&str] = &[
    "Every answer begins with the number of its question, so that it cannot reach another one",
    "1 approve: permits the action of question 1, once",
    "1 reject and a reason: does not permit it; the agent can read the reason",
    "1 and an answer: for a question that asks for information",
    "1 more, or 1 more 600: asks for more time, five minutes or that many seconds",
    "For a standing approval, or for some steps of a plan: countersign inbox answer --help",
    "list: pending questions, with the time left",
    "quit: stop listening; questions stay pending",
];

impl InboxCommand {
    pub(super) fn read(text: &str) -> Self {
        let (first, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        match first.to_lowercase().as_str() {
            "" => Self::Nothing,
            "list" | "l" if rest.is_empty() => Self::List,
            "help" | "h" | "?" => Self::Help,
            "quit" | "q" | "exit" if rest.is_empty() => Self::Quit,
            _ if !is_name(first) || rest.is_empty() => Self::Unknown,
            _ => Self::about(first, rest),
        }
    }

    fn about(question: &str, rest: &str) -> Self {
        let question = question.trim_end_matches([':', '.', ',']).to_owned();
        let (word, seconds) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let parsed = seconds.trim().parse::<i64>().ok();
        match word.to_lowercase().as_str() {
            "more" if seconds.is_empty() || parsed.is_some() => Self::MoreTime { question, seconds: parsed },
            _ => Self::Answer { question, text: rest.to_owned() },
        }
    }
}

/// A number, or an id.
fn is_name(text: &str) -> bool {
    let text = text.trim_end_matches([':', '.', ',']);
    text.parse::<usize>().is_ok() || text.starts_with("dec_") || text.starts_with("evt_")
}

/// An approval or rejection with an optional reason. `yes` and `no` mean the same as `approve` and `reject`.
pub(super) fn yes_or_no(text: &str) -> Option<(bool, Option<String>)> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let said = Some(rest.trim().trim_start_matches([',', ':']).trim().to_owned()).filter(|rest| !rest.is_empty());
    match word.trim_end_matches([',', ':', '.']).to_lowercase().as_str() {
        "approve" | "yes" | "y" => Some((true, said)),
        "reject" | "no" | "n" => Some((false, said)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_the_number_of_its_question_answers_nothing() {
        for typed in ["approve", "yes", "reject because", "approve all", "x approve", "1", "more 60"] {
            assert_eq!(InboxCommand::read(typed), InboxCommand::Unknown, "{typed}");
        }
    }

    #[test]
    fn a_line_is_a_question_and_its_answer() {
        let answer = |question: &str, text: &str| InboxCommand::Answer { question: question.into(), text: text.into() };
        assert_eq!(InboxCommand::read(" 2  no  too much "), answer("2", "no  too much"));
        assert_eq!(InboxCommand::read("dec_0a yes"), answer("dec_0a", "yes"));
        assert_eq!(InboxCommand::read("1: more sugar"), answer("1", "more sugar"));
        assert_eq!(InboxCommand::read("1 more"), InboxCommand::MoreTime { question: "1".into(), seconds: None });
        assert_eq!(InboxCommand::read("1 more 60"), InboxCommand::MoreTime { question: "1".into(), seconds: Some(60) });
        assert_eq!(
            (InboxCommand::read(""), InboxCommand::read("LIST"), InboxCommand::read("quit")),
            (InboxCommand::Nothing, InboxCommand::List, InboxCommand::Quit)
        );
    }

    #[test]
    fn a_reason_follows_the_word() {
        for no in ["Reject, too much", "reject: too much", "No, too much", "n too much"] {
            assert_eq!(yes_or_no(no), Some((false, Some("too much".into()))), "{no}");
        }
        for yes in ["approve", "Approve.", "yes", "y"] {
            assert_eq!(yes_or_no(yes), Some((true, None)), "{yes}");
        }
        for neither in ["yesterday", "approved", "rejection", "accept"] {
            assert_eq!(yes_or_no(neither), None, "{neither}");
        }
    }
}
