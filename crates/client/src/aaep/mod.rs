//! The subscriber's side of AAEP: receives events of agents, keeps pending questions, and sends the person's answers.
//!
//! [`Inbox`] and [`Speech`] are pure and hold every rule about announcements and their timing; [`SubscriberClient`] connects
//! them to a producer, ours or any other.

mod announcement;
mod answer;
mod backoff;
mod error;
mod inbox;
mod link;
mod question;
mod received;
mod recent;
mod replier;
mod speech;
pub(crate) mod sse;
mod subscriber;
#[cfg(test)]
mod testing;
mod trust;

pub use announcement::{Announcement, AnnouncementKind, AnnouncementText, Ending, SaidBy};
pub use answer::{Answer, NotAnAnswer, expected_form};
pub use backoff::{Backoff, Dice, system_dice};
pub use error::{QuestionsError, ReplyError, SubscribeError};
pub use inbox::Inbox;
pub use question::{Asks, ReceivedQuestion, TextSource};
pub use received::{NotAnEvent, Other, Received};
pub use replier::Replier;
pub use speech::Speech;
pub use subscriber::{SubscriberClient, SubscriberConfig, SubscriberEvent};
pub use trust::{ManifestKeys, Manifests, NotProven, Trust, UnknownProducers};
