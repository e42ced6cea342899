# Every sentence of the pages, in English. `de.ftl` has the same ids in the same order.

## Time

moment = { $day } { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
  } { $year }, { $clock } UTC
duration-days = { $count ->
    [one] 1 day
   *[other] { $count } days
  }
duration-hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
  }
duration-minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
  }
duration-seconds = { $count ->
    [one] 1 second
   *[other] { $count } seconds
  }

## On every page

skip-to-content = Skip to the content
nav-label = Main
nav-inbox = Inbox
nav-agents = Your agents
nav-account = Account
nav-sign-in = Sign in
footer = Agents sign. Humans countersign.
footer-label = About this page
error-heading = There is a problem
error-title = Error: { $title }
error-form-expired = This form was open for too long, so nothing was changed. Please look at it again and send it once more.
agents-may = Permissions

## Signing in

sign-in-heading = Sign in to { $service }
sign-in-lead = Here you decide which AI agents may act for you.
sign-in-username = User name
sign-in-password = Password
sign-in-submit = Sign in
confirm-heading = Confirm it is you
confirm-lead = You are signed in already. The next step is important enough to ask for your password once more.
confirm-account = Account
confirm-submit = Confirm
sign-in-error-username = Enter your user name.
sign-in-error-password = Enter your password.
sign-in-error-wrong = The user name or the password is not right.
sign-in-error-too-many = There were too many attempts. Wait { $duration }, then try again.
signed-out = You are signed out.
signed-out-everywhere = You are signed out on every device.

## Connecting an agent

connect-title = Connect { $domain }?
connect-before = Do you want to let an agent of
connect-after = use { $service } for you?
connect-verified = Verified domain
connect-verified-how = The sender of this request has proven control of this domain.
connect-unicode = Elsewhere it may be shown as
connect-calls-itself = It calls itself
connect-name-proves-nothing = Anyone can choose any name. Only the domain is verified.
connect-warnings-heading = Look closely at this domain
connect-may-heading = Permissions
connect-mode-heading = How it acts
connect-lasts-heading = How long
connect-lasts = { $duration } from your approval
connect-ends = You can revoke access at any time on the page “Your agents”. The agent then stops at once; completed actions are not undone.
ends-also = It ends earlier:
ends-inactivity = after { $duration } without a request
ends-task = when the agent reports its task as complete
ends-requests = { $count ->
    [one] after one request
   *[other] after { $count } requests
}
ends-writes = { $count ->
    [one] after one change
   *[other] after { $count } changes
}
ends-offboarded = when your account is deactivated
ends-subscription = when your organisation cancels its subscription
ends-resource = when the resource it was granted for is deleted
ends-role = when your role changes
ends-by-service = rule of { $service }
ends-by-operator = rule of { $domain }
ends-by-user = your own rule
own-rules-heading = Let it end earlier
own-rules-duration = At most this long
own-rules-inactivity = After this time without a request
own-rules-hint = For example 12h, 7d or 2w. Without requests at least 1h. Longer times than above have no effect.
own-rules-requests = After this number of requests
own-rules-task = When the agent reports its task as complete
own-rules-submit = Show with these rules
own-rules-error = One of your rules cannot be read. Write durations as 12h, 7d or 2w (at least 1h without requests), and a number of at least 1 for requests.
connect-liability-heading = If something goes wrong
connect-acknowledge = I have read this
connect-acknowledge-hint = You need this only to approve, not to reject.
connect-then-callback = After your answer you go back to { $host }.
connect-then-code = After your approval you get a code to hand to the agent.
connect-approve = Approve
connect-deny = Reject
connect-answer-by = You can answer until
connect-signed-in-as = You decide as { $person }.
connect-not-you = Not you?
connect-error-not-acknowledged = To approve, confirm that you have read the text under “If something goes wrong”.
connect-error-changed = This request has changed since you saw it, so nothing was approved. Please read it again.
scope-includes = Includes
scope-never = Never
scope-irreversible = Cannot be undone
scope-undo = Can be undone for { $duration }
scope-requires-confirmation = Each use needs approval
scope-not-offered = This permission is no longer offered and has no effect.
liability-by-operator = In the words of { $domain }
liability-by-service = In the words of { $service }
warning-looks-like-connected = It is not { $domain }, which you have connected, but it looks like it.
warning-looks-like-service = It is not { $domain }, the service you are using, but it looks like it.
warning-embeds = It contains { $domain }, but does not belong to it. The end of a domain names its owner.
warning-mixed-scripts = “{ $label }” mixes letters of different alphabets, which is often done to deceive: { $letters }.
warning-reads-as-latin = It reads like “{ $latin }”, but is written with letters of another alphabet: { $letters }.
warning-name-claims-domain = The name it gives itself contains { $domain }, which is a different domain.

## A service account

grant-title = Give { $domain } a service account?
grant-before = Do you want to give an agent of
grant-after = a service account at { $service }?
grant-lead = It acts for no person. It gets exactly what you list, and nothing widens that later.
grant-form-heading = What it gets
grant-account = Account id
grant-account-hint = It begins with svc_, for example svc_front_desk.
grant-org = Organisation id
grant-authorized = The token will name you as { $email }.
grant-description = Description, as other people will read it
grant-resources = Resources, one in each line
grant-resources-hint = For example inbox:desk. A line that ends in :* covers everything that begins with it. Routes with a resource that is not listed stay closed to the account.
grant-resources-heading = Resources
grant-no-resources = None: every route with a resource stays closed to the account.
grant-unbounded = These routes have no resource, so only the permissions limit them:
grant-crosses = These resources have the data of more than one user. Every audit entry will name them.
grant-ends = An admin can revoke it at any time with “countersign service-account revoke”.
grant-acknowledge = I have read all of it
grant-review = Show everything before it is granted
grant-error-not-acknowledged = To approve, confirm that you have read all of it.
grant-error-proposal = This cannot be granted: { $why }

## After the answer

connected-title = Connected: one step left
connected-heading = Hand this code to the agent
connected-lead = You have approved { $domain }. The agent can begin once it has this code.
connected-code = One-time code
connected-copy = Copy code
connected-copied = Copied
connected-step-copy = Copy the code.
connected-step-paste = Paste it where the agent asked you for it, and nowhere else.
connected-step-leave = That is all. You can close this page.
connected-once = It works once, for 10 minutes, and is not shown again. It is good until
connected-manage = See this connection or revoke its access
connect-denied-title = Rejected
connect-denied-what = { $domain } was not connected and has no access.
connect-denied-next = You can close this page. To ask again, the agent needs a new request.
connect-expired-title = This request has expired
connect-expired-what = A request to connect can be answered for 10 minutes. Nothing was approved.
connect-expired-next = If you still want it, start again from the agent.
connect-answered-title = Already answered
connect-answered-what = This request was already answered. Only the first answer counts.
connect-answered-next = The page “Your agents” lists your connected agents.
connect-gone-title = No such request
connect-gone-what = There is no pending request at this address. Nothing was approved.
connect-gone-next = Check the address, or start again from the agent.

## Inbox

inbox-title = Inbox
inbox-title-waiting = Inbox: { $count ->
    [one] 1 pending question
   *[other] { $count } pending questions
  }
inbox-lead = Agents need these answers before they continue. Each answer counts once, and only before its deadline.
inbox-none-heading = No pending questions
inbox-none = New questions from agents appear here.
inbox-waiting = Pending
inbox-open = Read and answer
inbox-open-of = Read and answer: { $what } Requested by { $who }
inbox-error-nothing-chosen = Choose whether it ran or did not run.
inbox-error-no-reason = Say how you found out, in at most 4,096 characters.
inbox-error-not-entitled = You may not report this outcome. A person who may approve the action has to report it, other than the person for whom the agent acts. Nothing was changed.
inbox-error-known = The outcome was reported meanwhile, so nothing was changed.
live-label = Updates
live-off = This page does not update by itself.
live-on = New questions are announced here as they come.
live-reload = Reload
live-new = A new question is pending.
live-read = Read it
live-accepted = A question on this page was approved.
live-rejected = A question on this page was rejected.
live-answered = A question on this page was answered.
live-expired = The time to answer a question on this page is over.
live-cancelled = A question on this page was withdrawn. It needs no answer any more.
live-gone = A question on this page is no longer pending.
asked-by-operator = verified domain
asked-by-key = API key of this service
asked-words-agent = In the agent’s own words. Nobody has checked them.
asked-words-service = Rendered by { $service } from the request
asked-action = Action
asked-consequence = Consequence
asked-summary = Summary
asked-question = Question
asked-context = Context
asked-tool = Tool:
asked-method = HTTP method
asked-target = Address
asked-content-type = Content type
asked-body-bytes = Body size in bytes
asked-body-hash = SHA-256 of the body
asked-requested-by = Requested by
asked-cut = Shortened; the question’s page shows the full text.
call-heading-request = Also in this request
call-heading-tool = Tool call
call-source-request = Read from the request itself, not from the agent’s words. Values from the sender are in quotes.
call-source-tool = Read from the call itself, not from the agent’s words. Values from the sender are in quotes.
call-no-arguments = It is called without arguments.
call-place-path = Path
call-place-query = Query
call-place-header = Header
call-place-content-type = Content type
call-place-body = Body
call-place-argument = Argument
call-place-tool = Tool
call-place-step = Step { $number }, { $place }
call-lookalike = Look twice: { $place } has letters of another alphabet that look like plain ones: { $letters }.
call-reads-as = It reads like { $word } and is not.
call-alike = { $count ->
    [one] Another question in this list reads the same. This one differs in:
   *[other] { $count } other questions in this list read the same. This one differs in:
}
call-alike-same = { $count ->
    [one] Another question in this list reads the same and permits exactly the same call.
   *[other] { $count } other questions in this list read the same and permit exactly the same call.
}
question-technical = Technical details
question-digest = Digest of the complete call (SHA-256)
asked-risk-high = High risk
asked-risk-medium = Medium risk
asked-risk-low = Low risk
asked-irreversible = Cannot be undone
asked-reversible-with-effort = Can be undone with effort
asked-reversible = Can be undone
asked-left = Time left
asked-left-note = when this page was opened
asked-deadline = Answer before
asked-unanswered = If nobody answers
asked-last-ran = Exactly the same last ran
asked-yes-means = An approval permits exactly this, once, within { $duration }.
asked-unanswered-rejected = It is not carried out.
asked-unanswered-accepted = It may be carried out; the record then says that nobody answered.
asked-unanswered-response = The agent continues with this answer: { $response }
asked-unanswered-unavailable = The agent learns that there is no answer.
question-title = { $what } Requested by { $who }
question-back = All pending questions
question-id = Question ID
question-answer-heading = Your answer
question-reason = Reason for a rejection (optional)
question-reason-hint = The agent can read it. An approval cannot carry conditions: if you want something else, reject.
question-reject = Reject
question-accept = Approve
question-no-only = You cannot approve this; somebody else has to. You can reject it.
question-one-of = Answer in one of these ways.
question-text = Your answer in words
question-number = Your answer as a number
question-yes-no = Yes or no
question-yes = Yes
question-no = No
question-choices = Choose one
question-send = Send the answer
question-send-of = Send the answer: { $what }
question-prove-first = This needs a fresh proof of your identity: your answer counts only if you have just entered your password.
question-prove = Confirm it is you
question-not-here = This needs a stronger proof of identity than this page supports. You can read it here, but not answer it.
question-nothing = You may read this, but you may not answer it.
question-more-heading = More time
question-more-until = The deadline can be extended until
question-more = Ask for more time: { $duration }
question-became-heading = Outcome
question-runs-heading = Execution
question-reason-given = The reason:
question-response-given = The answer:
question-notice-more-time = The deadline was extended. Everybody who can answer is notified.
question-notice-reconciled = The outcome is recorded.
question-notice-undone = Undone. It was not sent and never will be.
question-notice-undone-sent = Undone. The service confirmed it.
question-notice-remains = It was not undone. See below why.
question-notice-undo-unknown = It is unknown whether it was undone: the service was asked, and its answer was lost.
question-error-changed = This question has changed since you saw it, so your answer did not count. Please read it again.
question-error-settled = Your answer did not count: the question was already settled. The outcome is below.
question-error-too-late = Your answer did not count: it arrived after the deadline.
question-error-undo-over = Too late: the time to undo this is over. See below what became of it.
question-error-not-entitled = Your answer did not count: you may not decide this.
question-error-not-allowed = Your answer did not count: this question does not accept it.
question-error-reason-too-long = The reason is too long. It has at most 4,096 characters.
question-error-no-number = Give a number, such as 42 or 3.5.
question-error-no-text = Give an answer, in at most 4,096 characters.
question-error-no-choice = Choose one of the answers.
became-open = The question is pending.
became-over = The time to answer is over.
became-accepted-you = You approved it.
became-accepted-other = Somebody else who may decide it approved it.
became-rejected-you = You rejected it.
became-rejected-other = Somebody else who may decide it rejected it.
became-answered-you = You answered it.
became-answered-other = Somebody else answered it.
became-expired = Nobody answered in time.
became-withdrawn = It was withdrawn. It needs no answer any more.
became-session-over = The agent’s session has ended. It needs no answer any more.
became-revoked = The agent’s access was revoked. It needs no answer any more.
became-word-open = Pending
became-word-expired = Expired
became-word-accepted = Approved
became-word-rejected = Rejected
became-word-answered = Answered
became-word-withdrawn = Withdrawn
became-word-over = Settled
expired-as-rejected = So it is not carried out.
expired-as-accepted = So it may be carried out, as the policy for this action says; the record says that nobody answered.
expired-as-response = So the agent continues with this answer: { $response }
expired-as-unavailable = So the agent learned that there is no answer.
runs-may = Exactly this may run once, until
runs-held = It is held so that it can be undone, and is sent on
runs-undone = It was undone before it was sent, on
runs-lapsed = It did not run: the approval was not used in time. It expired on
runs-cancelled = It may not run any more. The approval was cancelled on
runs-begun = It has started, and the agent has to report the outcome by
runs-begun-gateway = The request was sent, and a response is expected by
runs-ran-agent = It ran, as the agent reported on
runs-ran-gateway = It ran: the service behind the gateway confirmed it on
runs-ran-upstream = It ran: the service behind the gateway confirmed it when asked, on
runs-ran-you = It ran, as you reported on
runs-ran-other = It ran, as somebody else reported on
runs-failed-agent = It failed, as the agent reported on
runs-failed-gateway = It failed, as the gateway observed on
runs-failed-upstream = It did not run: the service behind the gateway said so when asked, on
runs-failed-you = It did not run, as you reported on
runs-failed-other = It did not run, as somebody else reported on
runs-released = It was forwarded, and its outcome was not observed, on
runs-unknown = The outcome is unknown: it started, and nothing was reported since
undo-heading = Undo
undo-means = The approved action has not been sent yet. If you undo it, it never will be.
undo-means-sent = The approved action was carried out. The service can still undo it.
undo-undoing = The service is being asked to undo it.
undo-undone = The service undid it on
undo-remains = It was not undone. The reason was recorded on
undo-unknown = It is unknown whether it was undone: the service was asked, and its answer was lost on
undo-button = Undo
undo-button-of = Undo: { $what }
undoable-heading = Can still be undone
undoable-lead = These actions were approved. They are held for a moment before they are sent, or their service can still undo them.
undoable-more = Only the newest are listed.
undoable-word = Held
undoable-until = Sent on
undoable-word-sent = Carried out
undoable-until-sent = Can be undone until
unreported-heading = Unknown outcomes
unreported-lead = Each of these was approved and started, and no outcome was reported. It is not tried again. Find out what happened, and report it.
unreported-word = Outcome unknown
unreported-begun = Started
unreported-since = No report since
unreported-asked-until = The service is being asked until
unreported-asked = The service behind the gateway is being asked for the outcome. Wait for its answer, or find out yourself: your report ends the asking.
unreported-question = The question and its answer
unreported-question-of = The question and its answer: { $what }
unreported-what = What happened?
unreported-ran = It ran
unreported-did-not = It did not run
unreported-reason = How you found out
unreported-submit = Report outcome
unreported-not-yours = Somebody else has to report this outcome.

## Plans and standing approvals

asked-words-plan = Rendered by { $service } from the plan. The agent’s own words are in quotes.
became-called-off-you = You cancelled it. It needs no answer any more.
became-called-off-other = Somebody else who may decide it cancelled it. It needs no answer any more.
became-word-called-off = Cancelled
difference-heading = This deviates from the approved plan
difference-plan = The plan and its progress
question-arguments = Arguments of the tool call
question-locked = Locked
question-locked-for-you = This approval is locked. It can be decided after it is unlocked, or by somebody who may override the lock.
question-override = Override the lock
question-open-heading = Standing approval
question-open-take-back = See and revoke standing approvals
question-error-locked = Your answer did not count: this approval is locked. If you may override the lock, tick “Override the lock”.
question-error-out-of-bounds = Your answer did not count. The rules say: { $why }
more-heading = Give a standing approval
more-lead = A standing approval also covers further calls of the same kind by this agent. Every argument stays exactly as shown, except an amount for which you set a limit here. You can revoke it at any time.
more-uses = How many times
more-uses-hint = { $count ->
    [one] At most once, also if you leave this empty.
   *[other] At most { $count } times, also if you leave this empty.
  }
more-minutes = For how many minutes
more-minutes-hint = At most { $count }. If you leave this empty: { $duration }.
more-amount = { $name }: now { $amount }
more-amount-hint = If you leave these empty, it stays exactly { $amount }.
more-each = Each up to
more-each-in = Each up to, in { $unit }
more-sum = Altogether up to
more-sum-in = Altogether up to, in { $unit }
more-unit = Unit
more-unit-none = No unit (then it has no sum)
more-unit-of = As { $name } says, now { $unit }
more-fixed = This cannot be undone and its risk is high, so every argument stays as it is shown.
more-submit = Approve within these limits
more-error-empty = Say how many times, for how long, or up to which amount. For exactly this once, use “Approve”.
more-error-uses = Give a whole number of times that is allowed here.
more-error-minutes = Give a whole number of minutes that is allowed here.
more-error-amount = Give an amount in digits, such as 500 or 500.00.
more-error-too-small = This must be at least { $amount }, or it would not cover this request.
more-error-no-unit = A sum needs a unit: choose one.
more-error-refused = Your answer did not count. The rules say: { $why }
bound-most = at most { $most }
bound-between = { $least } to { $most }
bound-one-of = only one of { $choices }
bound-text = { $count ->
    [one] any text of 1 character
   *[other] any text of at most { $count } characters
  }
bound-sum = , and altogether at most { $sum }
planned-heading = The plan
planned-title = Title
planned-objective = Objective
planned-reason = Reason
planned-asking-role = Requested in the role
planned-changes = Changes since you were last asked
planned-unchanged = Nothing changed since you were last asked.
planned-choose = Which steps may run?
planned-step = Step { $number }
planned-words-owner = The call, in the words of the service
planned-words-call = The call itself
planned-uses = { $count ->
    [one] Once.
   *[other] Up to { $count } times.
  }
planned-asks-again = You are asked again before each call.
planned-all-arguments = All arguments of step { $number }
planned-runs-nothing = An approval permits no call for this step: the agent does it by itself.
planned-after = Only after step { $steps }.
planned-role = For the role { $role }
planned-yes-means = An approval lets the ticked steps run without another question for { $duration } from then on, each as often as stated and within its limits. Everything else still needs approval.
planned-accept = Approve the ticked steps
planned-page = The plan and its progress
planned-error-no-step = Tick at least one step, or reject the plan.
planned-error-needs = Step { $step } can only run after step { $needs }: tick that too, or leave both out.
inbox-yeses = { $count ->
    [0] Standing approvals: none
   *[other] Standing approvals: { $count }
  }
account-allowances = See and revoke standing approvals
allowances-title = Standing approvals
allowances-lead = Agents may make these calls without asking again, because a person approved more than one call.
allowances-none-heading = No standing approvals
allowances-none = Agents ask you before every action, unless the rules of the service say otherwise.
allowances-taken-back = The standing approval is revoked. Nothing more runs under it.
allowances-error-nothing-left = Nothing is left to revoke: this approval was used up, has expired, or was already revoked.
allowances-error-not-yours = You may not revoke this approval. Nothing was changed.
allowances-plan = The plan
allowances-plan-of = The plan: { $title }
allowance-open = Active
allowance-left = Uses left: { $left } of { $uses }.
allowance-sum-left = { $left } of { $limit } left
allowance-until = Until
allowance-reason = Reason (optional)
allowance-take-back-of = Revoke: { $what }
allowance-take-back-step = Revoke step { $number }: { $what }
plan-title = Plan “{ $title }”: { $status }
plan-by = Plan
plan-progress-label = Progress
plan-progress = { $done } of { $all } steps completed
plan-until = Its steps may run until
plan-feedback = Why it was returned to the agent
plan-steps = Steps
plan-step-progress = { $done } of { $uses } calls completed
plan-step-under-way = { $count ->
    [one] 1 call is in progress.
   *[other] { $count } calls are in progress.
  }
plan-step-lost = { $count ->
    [one] 1 use was claimed without a completed call.
   *[other] { $count } uses were claimed without completed calls.
  }
plan-left = Remaining
plan-events = Recent events
plan-no-events = Nothing yet.
plan-event-plan = The plan: { $status }
plan-event-step = Step { $number }: { $status }
plan-take-back-heading = Revoke the plan
plan-take-back-lead = Nothing more of this plan runs then. Calls in progress cannot be stopped, and completed calls are not undone.
plan-take-back = Revoke the whole plan
plan-taken-back = The plan is revoked. Nothing more of it runs.
plan-error-nothing-left = There is nothing to revoke: the plan does not run.
plan-id = Plan ID
plan-status-draft = Draft
plan-status-proposed = Pending
plan-status-approved = Approved
plan-status-in-progress = In progress
plan-status-completed = Completed
plan-status-cancelled = Cancelled
plan-status-failed = Failed
plan-status-approved-part = Approved in part
plan-status-in-progress-part = In progress, approved in part
plan-status-completed-part = Completed, approved in part
plan-approved-part = Only { $approved } of { $all } steps were approved. The others do not run.
step-approved = Approved
step-not-approved = Not approved: it does not run
step-approved-and = Approved. { $status }
step-status-pending = Not started
step-status-in-progress = In progress
step-status-completed = Completed
step-status-blocked = Blocked
step-status-skipped = Skipped
step-status-failed = Failed

## Your agents

agents-title = Your agents
agents-lead = These agents may act for you. You can revoke the access of each one at once.
agents-none-heading = No connected agents
agents-none = When you approve an agent, it appears here.
agents-live = Connected
agents-ended = Ended
agents-service = Service
agents-since = Since
agents-until = Until
agents-ends-earlier = Ends earlier
agents-last-used = Last used
agents-ended-at = Ended
agents-why = Reason
agents-did = Activity
agents-did-of = Activity: { $domain }
agents-cut-off = Revoke access
agents-cut-off-of = Revoke access: { $domain }
state-active = Active
state-suspended = Suspended
state-ended = Ended
ended-policy-expired = It has expired.
ended-inactivity = It was not used for a long time.
ended-task-complete = Its task was completed.
ended-event-triggered = Something changed in your account or organisation.
ended-manual-revoke = Its access was revoked.
ended-key-rotation = Its operator withdrew the key.
notice-revoked = Access of { $domain } is revoked.
notice-already-revoked = Access of { $domain } was already revoked.
agent-back = All your agents
agent-id = Connection ID
agent-audit-heading = Activity
agent-audit-caption = { $count ->
    [one] 1 entry in all.
   *[other] { $count } entries in all.
  }
audit-zone = Time zone:
agent-audit-none = It has not done anything yet.
audit-time = Time
audit-method = Method
audit-path = Path
audit-intent = Purpose
audit-outcome = Outcome
audit-session = Session
audit-no-intent = none
audit-title = Audit
audit-decision-title = Decision { $id }
audit-back = The whole audit
audit-lead = Who decided what, how surely, and what became of it. Oldest first.
audit-timeline-label = Timeline from “{ $first }” to “{ $last }”. The table below has the same entries under the same numbers.
audit-person = User name
audit-result = Result
audit-any-result = Any
audit-search = Search
audit-none = No entry fits.
audit-number = No.
audit-event = Event
audit-who = Who
audit-how = Proven how
audit-what = What
audit-accepted = Approved
audit-answered = Answered
audit-rejected = Rejected
audit-expired = Expired
audit-cancelled = Cancelled
audit-refused = Refused
audit-committed = Carried out
audit-failed = Failed
audit-unknown = Unknown
audit-reconciled = Reconciled
audit-conflict = Contradictory
audit-ended = Ended
audit-done = Done
audit-recorded = Recorded
audit-altered = Altered
audit-altered-why = This entry was altered after it was written. What does not fit is left out.
agent-pages = More entries
agent-next = Next entries
agent-first = First entries
suspended-heading = On hold
suspended-why = This service was restored from a backup, so it cannot know whether you have revoked this agent’s access since. If you have not, allow it again.
suspended-networks = This agent’s access was used from two networks at the same time. Someone may have stolen it, so nothing runs until it is allowed again. If you know both places, allow it; if not, end its access.
suspended-lift = Allow again

# A task is one AAP session of an agent.
tasks-heading = Running tasks
tasks-lead = If you end a task, the agent keeps its access. Actions of the task that the service can undo are undone.
task-since = Started
task-last-heartbeat = Last heartbeat: { $when }
task-no-heartbeat = No heartbeat yet
task-silent = No sign of life since { $when }
task-progress = { $count } percent done
task-end = End this task
task-ended-completed = The task has ended. Nothing that it changed remains.
task-ended-partial = The task has ended. Some of what it changed may remain: look at its activity.
task-ended-not-supported = The task has ended. What it changed remains: this service cannot undo it.
revoke-title = Revoke access: { $domain }?
revoke-before = Revoke the access of this agent?
revoke-lead = It loses its access at once, also in the middle of a task. Completed actions are not undone.
revoke-again = To get access again, it has to ask you.
revoke-loses = Permissions it loses
revoke-submit = Revoke access
revoke-keep = Keep access

## Account

account-title = Account
account-name = Name
account-username = User name
account-signed-in = Signed in since
account-expires = Ends by itself
account-here-heading = On this device
account-sign-out = Sign out
account-everywhere-heading = On every device
account-everywhere = Ends all your sign-ins, including this one, and the tokens of all your subscribers. Your agents keep their access: you revoke it on the page “Your agents”.
account-sign-out-everywhere = Sign out everywhere
subscribers-heading = Subscribers
subscribers-lead = Your programs that receive questions from agents: a screen reader, a speaker, a script. Each has a token of its own, and you can revoke each one.
subscribers-none = There are none.
subscriber-answers = Listens and answers for you.
subscriber-listens = Only listens.
subscriber-approves-high-risk = May approve high-risk actions that cannot be undone.
subscriber-in-address = Its token stands in its address.
subscriber-revoke = Revoke
subscriber-revoke-of = Revoke: { $name }
subscriber-taken-back = { $name } is revoked. It hears and answers nothing any more.
subscriber-new = Add a subscriber
subscriber-project = Service
subscriber-name = Name
subscriber-may-answer = It may answer for me
subscriber-high-risk = It may also approve high-risk actions that cannot be undone
subscriber-high-risk-hint = Without this you answer such questions on these pages. You are asked for your password unless you entered it in the last five minutes.
subscriber-days = { $count ->
    [one] It is valid for one day, and ends earlier when you sign out everywhere or get a new password.
   *[other] It is valid for { $count } days, and ends earlier when you sign out everywhere or get a new password.
}
subscriber-legacy = It cannot send a token, so put the token into its address
subscriber-legacy-hint = Only for old programs. Anyone who sees the address can do everything that the program can.
subscriber-make = Create token
subscriber-error-name = Give it a name of at most 128 characters.
subscriber-error-legacy = This service does not let tokens stand in addresses.
subscriber-error-listens = A program that only listens approves nothing: let it answer, or leave that out.
subscriber-made-title = Give the program this token
subscriber-made-lead = “{ $name }” can listen as soon as it has it.
subscriber-made-token = Token
subscriber-made-copy = Copy token
subscriber-made-endpoint = Address with the token in it
subscriber-made-once = It is not shown again. Anyone who has it can do everything that the program can, until you revoke it.
subscriber-made-back = Back to the account

## When a page cannot be shown

trouble-bad-request-title = This request cannot be understood
trouble-bad-request-what = Something in the address or the form is wrong. Nothing was changed.
trouble-bad-request-next = Go back and try again.
trouble-not-allowed-title = You may not do this
trouble-not-allowed-what = Your account does not have the right to see or do this. Nothing was changed.
trouble-not-allowed-next = Sign in with another account, or ask the administrator of this service.
trouble-form-expired-title = This form has expired
trouble-form-expired-what = It was open for too long, or was sent from another place. Nothing was changed.
trouble-form-expired-next = Go back, load the page again and send the form once more.
trouble-not-found-title = There is no such page
trouble-not-found-what = Nothing is at this address, or nothing that you may see.
trouble-not-found-next = Check the address, or begin at the start page.
trouble-wrong-method-title = This address works differently
trouble-wrong-method-what = It cannot be opened in this way. Nothing was changed.
trouble-wrong-method-next = Go back and use the button on the page.
trouble-too-many-title = Too many requests
trouble-too-many-what = There were more requests than allowed in a short time. This one was not carried out.
trouble-too-many-next = Wait { $duration }, then try again.
trouble-internal-title = Something went wrong here
trouble-internal-what = It is our fault, not yours. We cannot say whether your last step was carried out.
trouble-internal-next = Look at the page “Your agents” before you try again. If it happens again, give the administrator the request ID below.
trouble-unavailable-title = Not available at the moment
trouble-unavailable-what = The service rejects everything until it can keep its records again.
trouble-unavailable-next = Try again in a minute.
error-next = What you can do
error-request-id = Request ID
error-home = Start page

## Home

home-title = Consent for AI agents
home-lead = { $service } lets AI agents act only for people who have agreed: for the agreed purpose, and for the agreed time.
home-people-heading = For you
home-inbox = See and answer questions from agents
home-agents = See your agents and revoke access
home-sign-in = Sign in
home-account = Your account
home-machines-heading = For agents and their makers
home-manifest = How agents connect (discovery manifest)
home-openapi = The API (OpenAPI)
home-rules-heading = What you can rely on
home-rule-domain = You see the verified domain of each requester, not just a name.
home-rule-end = When you revoke the access of an agent, it stops at once.
home-rule-record = Everything an agent does for you is recorded, and you can read it.

## Clarifications

asked-words-rule = Asked by a rule of { $service }, because the agent’s plan leaves it open. The agent’s own words are in quotes.
asked-unanswered-stopped = It stays open, and the agent stays stopped.
clarified-heading = Earlier clarifications
clarified-field = Place in the agent’s plan
clarified-question = Question
clarified-answer = Answer
clarified-own = The agent’s own answer: nobody else gave or checked it
clarified-person = A person’s answer
clarified-more = { $count ->
    [one] There is one more answer; the record has it.
   *[other] There are { $count } more answers; the record has all of them.
  }
clarified-record = Clarification record
gap-heading = The agent is stopped until this is answered
gap-stops = Until then it gets neither its plan nor an attestation.
gap-stops-also = Until then it gets neither its plan nor an attestation, and this is stopped: { $what }.
gap-planner = planning
gap-developer = developing
gap-build = carrying out
gap-attest = attesting
gap-field = It is about this place in the agent’s plan:
gap-why = Reason for the question
gap-may-stand = This is a warning. To leave it as it is, answer with the word accept.
abandon-heading = Abandon the clarification?
abandon-means = If you abandon the clarification, nobody is asked about it any more, the agent’s plan is not confirmed, and the actions that it stopped can continue.
abandon-button = Abandon the clarification
gap-said = The agent’s own answer
gap-not-taken = It was not accepted:

## Scopes beyond a consent receipt

asked-words-scopes = Written by { $service } about its own permissions
wider-heading = What the task would be allowed to do
wider-until = Until at most
wider-task = Task
wider-yes-means = An approval allows this for this one task, until the task ends or its consent expires. Calls that need an approval are still held.
wider-tasks = More for single tasks
wider-tasks-lead = These tasks may do more than their consent includes. It ends with the task.
wider-source = Allowed
wider-approved = By your approval
wider-silent = By a rule of the service, without asking
