//! An agent's question as a person sees it: requester, author of the text, and consequence.

use super::{CallShown, Frame, OperatorLabel, Piece, PlainLine, Prose};
use countersign_protocol::{
    aaep::event::{Reversibility, Risk},
    question::RequestFacts,
    time::UnixMillis,
    visible::quoted,
};

#[derive(Clone, Debug)]
pub struct QuestionSummary {
    pub decision_id: String,
    /// The AAEP event that carried the question, and its session: a stream identifies the question by both.
    pub event_id: String,
    pub session_id: String,
    /// The project of the question, and its display name.
    pub project: String,
    pub service: PlainLine,
    pub by: AskedBy,
    pub words: Author,
    /// The language of the question's text, a BCP 47 tag.
    pub language: String,
    pub what: ActionText,
    /// The name of the tool that would run, if the agent gave one.
    pub tool: Option<PlainLine>,
    /// Every value of the call; `None` for a question older than the recording of calls.
    pub call: Option<CallShown>,
    /// Details for technicians: method, address, sizes and hashes.
    pub request: Option<RequestFacts>,
    /// The outcome if nobody answers.
    pub unanswered: Unanswered,
    pub asked_at: UnixMillis,
    /// The deadline for an answer, while the question is pending.
    pub deadline: Option<UnixMillis>,
    /// Seconds from now to the deadline.
    pub left_s: i64,
    /// When exactly the same call last ran.
    pub last_ran: Option<UnixMillis>,
}

/// The proven identity of the requester. The name an agent gives itself is never part of it.
#[derive(Clone, Debug)]
pub enum AskedBy {
    Operator(OperatorLabel),
    /// The principal of an API key of this service.
    Key(PlainLine),
}

/// The author of the question's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The agent; nobody has checked the text.
    Agent,
    /// Rendered from the request by the owner's template.
    Service,
    /// Countersign, about an agent's plan; quotes mark the agent's own text.
    Plan,
    /// A rule of the owner that found a gap in an agent's plan.
    Rule,
    /// Countersign, about scopes that a task asks for.
    Scopes,
}

#[derive(Clone, Debug)]
pub enum ActionText {
    Action {
        action: Prose,
        consequence: Prose,
        summary: Option<Prose>,
        details: Vec<Detail>,
        risk: Risk,
        irreversible: bool,
        reversibility: Option<Reversibility>,
        /// How long an approval may be claimed, in seconds.
        allowance_s: i64,
    },
    Question {
        question: Prose,
        context: Option<Prose>,
        summary: Option<Prose>,
    },
}

/// One member of the context beside the question. Name and value are shown uninterpreted.
#[derive(Clone, Debug)]
pub struct Detail {
    pub name: PlainLine,
    pub value: Prose,
}

#[derive(Clone, Debug)]
pub enum Unanswered {
    Rejected,
    Accepted,
    /// The agent continues with this response.
    Response(Prose),
    /// The agent learns that there is no answer.
    Unavailable,
    /// The gap stays open and stops the agent.
    Stopped,
}

/// A remark with a word and a shape: colour is never the only signal.
pub(super) struct QuestionMark {
    pub(super) kind: &'static str,
    pub(super) text: String,
}

pub(super) struct HeadingPiece {
    pub(super) text: String,
    pub(super) is_value: bool,
}

impl HeadingPiece {
    /// The whole text on one line.
    fn all(prose: &Prose) -> Vec<Self> {
        let mut found = Vec::new();
        for paragraph in prose.paragraphs() {
            if !found.is_empty() {
                found.push(Self { text: " ".into(), is_value: false });
            }
            let of = |piece: Piece<'_>| Self { text: piece.text.to_owned(), is_value: piece.is_value };
            found.extend(prose.pieces(paragraph).into_iter().map(of));
        }
        found
    }

    /// The same as a question. Several sentences stay as they are: a question mark would belong to the last one only.
    fn asking(mut pieces: Vec<Self>) -> Vec<Self> {
        if pieces.iter().any(|piece| !piece.is_value && piece.text.contains(". ")) {
            return pieces;
        }
        match pieces.last_mut() {
            Some(last) if !last.is_value => last.text = asking(&last.text),
            _ => pieces.push(Self { text: "?".into(), is_value: false }),
        }
        pieces
    }
}

/// A sentence with a question mark at its end.
fn asking(sentence: &str) -> String {
    let sentence = sentence.trim_end().trim_end_matches('.');
    if sentence.ends_with(['?', '!']) { sentence.to_owned() } else { format!("{sentence}?") }
}

fn is_brief(text: &Prose) -> bool {
    text.as_str().chars().count() <= BRIEF
}

/// Maximum characters in a list; the question's own page shows the full text.
const BRIEF: usize = 300;

impl QuestionSummary {
    pub fn path(&self) -> String {
        format!("/inbox/{}/{}", self.project, self.decision_id)
    }

    /// Drops the summary, details and call, because the page of a plan shows them in full elsewhere.
    #[must_use]
    pub fn told_by_plan(mut self) -> Self {
        if let ActionText::Action { summary, details, .. } = &mut self.what {
            (*summary, *details) = (None, Vec::new());
        }
        (self.tool, self.call) = (None, None);
        self
    }

    /// Replaces context and summary with the rule's reason.
    #[must_use]
    pub fn told_by_rule(mut self, why: Prose) -> Self {
        if let ActionText::Question { context, summary, .. } = &mut self.what {
            (*context, *summary) = (Some(why), None);
        }
        self
    }

    fn words_asked(&self) -> &Prose {
        let (ActionText::Action { action: words, .. } | ActionText::Question { question: words, .. }) = &self.what;
        words
    }

    /// The question, cut to the length of a title.
    pub(super) fn headline(&self) -> PlainLine {
        PlainLine::cut(self.words_asked().as_str(), BRIEF)
    }

    /// The headline in pieces: an agent's text is quoted as a whole, in the owner's text only the values are. The
    /// action of a pending confirmation ends with a question mark.
    pub(super) fn heading(&self, pending: bool) -> Vec<HeadingPiece> {
        let pieces = match self.is_unchecked() {
            true => vec![HeadingPiece { text: self.headline().as_str().to_owned(), is_value: true }],
            false => HeadingPiece::all(self.words_asked()),
        };
        if pending && self.is_action() { HeadingPiece::asking(pieces) } else { pieces }
    }

    fn is_action(&self) -> bool {
        matches!(self.what, ActionText::Action { .. })
    }

    /// Whether the headline holds the full text. Text rendered by the owner or by Countersign is never cut.
    pub(super) fn is_whole_in_heading(&self) -> bool {
        let words = self.words_asked();
        !self.is_unchecked() || (is_brief(words) && words.paragraphs().count() == 1)
    }

    /// The headline as plain text, cut to the length of a name. An agent's text stays in quotes that it cannot end: it
    /// must not pass for the requester that follows it.
    pub(super) fn name(&self, pending: bool) -> String {
        let name = PlainLine::cut(self.headline().as_str(), 80);
        let name = if self.is_unchecked() { quoted(name.as_str()) } else { name.to_string() };
        let name = name.replace(['\u{2068}', '\u{2069}'], "");
        if pending && self.is_action() { asking(&name) } else { name }
    }

    /// The label of the link to its page: links must differ by more than their position.
    pub(super) fn open_label(&self, frame: &Frame) -> String {
        frame.say_both("inbox-open-of", ("who", self.by.name()), ("what", &self.name(true)))
    }

    /// The consequence in pieces, cut to fit a list.
    pub(super) fn brief_consequence(&self) -> Option<Vec<HeadingPiece>> {
        let ActionText::Action { consequence, .. } = &self.what else { return None };
        Some(match self.is_unchecked() {
            true => {
                vec![HeadingPiece { text: PlainLine::cut(consequence.as_str(), BRIEF).to_string(), is_value: false }]
            }
            false => HeadingPiece::all(consequence),
        })
    }

    /// Whether a list shows the full text; otherwise the list says that it is cut.
    pub(super) fn is_whole_in_list(&self) -> bool {
        let brief = match &self.what {
            ActionText::Action { action, consequence, .. } => is_brief(action) && is_brief(consequence),
            ActionText::Question { question, .. } => is_brief(question),
        };
        brief || !self.is_unchecked()
    }

    /// The author of the text, always stated.
    pub(super) fn whose(&self, frame: &Frame) -> String {
        match self.words {
            Author::Agent => frame.say("asked-words-agent"),
            Author::Service => frame.say_of("asked-words-service", "service", self.service.as_str()),
            Author::Plan => frame.say_of("asked-words-plan", "service", self.service.as_str()),
            Author::Rule => frame.say_of("asked-words-rule", "service", self.service.as_str()),
            Author::Scopes => frame.say_of("asked-words-scopes", "service", self.service.as_str()),
        }
    }

    pub(super) fn is_unchecked(&self) -> bool {
        self.words == Author::Agent
    }

    /// The facts of a held request with their labels, without those about an absent body.
    pub(super) fn technical(&self, frame: &Frame) -> Vec<(String, String)> {
        let Some(request) = &self.request else { return Vec::new() };
        let head = [("asked-method", request.method.clone()), ("asked-target", request.target.clone())];
        let body = [
            ("asked-content-type", request.content_type.clone()),
            ("asked-body-bytes", request.body_bytes.to_string()),
            ("asked-body-hash", request.body_sha256.clone()),
        ];
        let body = body.into_iter().filter(|(_, value)| request.body_bytes > 0 && !value.is_empty());
        head.into_iter().chain(body).map(|(id, value)| (frame.say(id), value)).collect()
    }

    pub(super) fn unanswered_text(&self, frame: &Frame) -> String {
        self.unanswered.text(frame)
    }

    pub(super) fn marks(&self, frame: &Frame) -> Vec<QuestionMark> {
        match &self.what {
            // Nothing runs; the marks of each scope are beside it.
            _ if self.words == Author::Scopes => Vec::new(),
            ActionText::Action { risk, irreversible, reversibility, .. } => {
                marks(frame, *risk, *irreversible, *reversibility)
            }
            ActionText::Question { .. } => Vec::new(),
        }
    }

    /// The calls an approval permits.
    pub(super) fn yes_means(&self, frame: &Frame) -> Option<String> {
        let ActionText::Action { allowance_s, .. } = &self.what else { return None };
        Some(frame.say_of("asked-yes-means", "duration", frame.duration(allowance_s)))
    }

    /// The remaining time in the largest unit that does not overstate it.
    pub(super) fn left(&self, frame: &Frame) -> String {
        let units = [(172_800, 86_400, "duration-days"), (7200, 3600, "duration-hours"), (120, 60, "duration-minutes")];
        let fits = units.into_iter().find(|(from, ..)| self.left_s >= *from);
        let (_, size, id) = fits.unwrap_or((0, 1, "duration-seconds"));
        frame.say_count(id, self.left_s.max(0) / size)
    }

    /// The tag, if well formed: a screen reader must not be given a language that does not exist.
    pub(super) fn lang(&self) -> Option<&str> {
        let well_formed = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
        let primary = self.language.split('-').next().unwrap_or_default();
        let is_language = (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_alphabetic());
        (is_language && self.language.split('-').all(well_formed)).then_some(self.language.as_str())
    }
}

/// Marks for the risk and the reversibility.
pub(super) fn marks(
    frame: &Frame,
    risk: Risk,
    irreversible: bool,
    reversibility: Option<Reversibility>,
) -> Vec<QuestionMark> {
    let (kind, id) = match risk {
        Risk::High => ("care", "asked-risk-high"),
        Risk::Medium => ("calm", "asked-risk-medium"),
        Risk::Low => ("calm", "asked-risk-low"),
    };
    let (undo_kind, undo) = match (irreversible, reversibility) {
        (true, _) | (_, Some(Reversibility::Irreversible)) => ("care", "asked-irreversible"),
        (false, Some(Reversibility::ReversibleWithEffort)) => ("calm", "asked-reversible-with-effort"),
        (false, _) => ("calm", "asked-reversible"),
    };
    vec![QuestionMark { kind, text: frame.say(id) }, QuestionMark { kind: undo_kind, text: frame.say(undo) }]
}

impl Unanswered {
    pub(super) fn text(&self, frame: &Frame) -> String {
        match self {
            Unanswered::Rejected => frame.say("asked-unanswered-rejected"),
            Unanswered::Accepted => frame.say("asked-unanswered-accepted"),
            Unanswered::Response(response) => frame.say_of("asked-unanswered-response", "response", response.as_str()),
            Unanswered::Unavailable => frame.say("asked-unanswered-unavailable"),
            Unanswered::Stopped => frame.say("asked-unanswered-stopped"),
        }
    }
}

impl AskedBy {
    pub(super) fn name(&self) -> &str {
        match self {
            AskedBy::Operator(operator) => operator.domain.as_str(),
            AskedBy::Key(principal) => principal.as_str(),
        }
    }

    /// The identity, split where a line may break. It is never cut.
    pub(super) fn pieces(&self) -> Vec<&str> {
        match self {
            AskedBy::Operator(operator) => operator.pieces(),
            AskedBy::Key(principal) => vec![principal.as_str()],
        }
    }

    pub(super) fn unicode(&self) -> Option<String> {
        match self {
            AskedBy::Operator(operator) => operator.unicode(),
            AskedBy::Key(_) => None,
        }
    }

    /// How the requester's identity was proven.
    pub(super) fn proof(&self, frame: &Frame) -> String {
        frame.say(match self {
            AskedBy::Operator(_) => "asked-by-operator",
            AskedBy::Key(_) => "asked-by-key",
        })
    }
}
