/**
 * Ask a person before an agent acts.
 *
 *     const client = Countersign.fromEnvironment();
 *     const send = client.requireApproval("mail.send", async ({ to, text }) => …, { action: "Send {text} to {to}" });
 */

export { actionDigest, agentAction, type HttpCall, httpAction, toolAction } from "./action.js";
export { type ApprovalTerms, type Text, usuallyUnknown } from "./approval.js";
export { canonical, type Json, type JsonObject, NotCanonical } from "./canonical.js";
export { type ClarifyTerms, type ClientOptions, type Confirmation, Countersign, type Tool } from "./client.js";
export { type Allowance, type Decision, type Execution, mayBeClaimed } from "./decision.js";
export * from "./errors.js";
export { type Entry, type Journal, MemoryJournal } from "./journal.js";
export { type Plan, Plans } from "./plans.js";
export { type AaepEvent, Subscriber, type SubscriberOptions, SubscriptionRejected } from "./subscriber.js";
export { ApiKey, type Credential, type Fetch } from "./wire.js";
