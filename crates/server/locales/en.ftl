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
agents-may = What it may do

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
connect-verified-how = Whoever sends this request has proven to control this domain.
connect-unicode = Elsewhere it may be shown as
connect-calls-itself = It calls itself
connect-name-proves-nothing = Anyone can choose any name. Only the domain is verified.
connect-warnings-heading = Look closely at this domain
connect-may-heading = What it may do
connect-mode-heading = How it acts
connect-lasts-heading = How long
connect-lasts = { $duration } from your approval
connect-ends = You can end it at any time on the page “Your agents”. It then stops at once; what was done before stays done.
connect-liability-heading = If something goes wrong
connect-acknowledge = I have read this
connect-acknowledge-hint = You need this only to approve, not to deny.
connect-then-callback = After your answer you go back to { $host }.
connect-then-code = After your approval you get a code to hand to the agent.
connect-approve = Approve
connect-deny = Deny
connect-answer-by = You can answer until
connect-signed-in-as = You decide as { $person }.
connect-not-you = Not you?
connect-error-not-acknowledged = To approve, confirm that you have read the text under “If something goes wrong”.
connect-error-changed = Something about this request has changed since you saw it, so nothing was approved. Please read it again.
scope-includes = Includes
scope-never = Never
scope-irreversible = Cannot be undone
scope-undo = Can be undone for { $duration }
scope-requires-confirmation = Each use needs a confirmation first
scope-not-offered = This permission is no longer offered and opens nothing.
liability-by-operator = In the words of { $domain }
liability-by-service = In the words of { $service }
warning-looks-like-connected = It is not { $domain }, which you have connected, but it looks like it.
warning-looks-like-service = It is not { $domain }, the service you are using, but it looks like it.
warning-embeds = It contains { $domain }, but does not belong to it. The end of a domain says whose it is.
warning-mixed-scripts = “{ $label }” mixes letters of different alphabets, which is often done to deceive: { $letters }.
warning-reads-as-latin = It reads like “{ $latin }”, but is written with letters of another alphabet: { $letters }.
warning-name-claims-domain = The name it gives itself contains { $domain }, which is a different domain.

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
connected-manage = See or end this connection
connect-denied-title = Denied
connect-denied-what = { $domain } was not connected and gets no access.
connect-denied-next = You can close this page. The agent may ask again only with a new request.
connect-expired-title = This request has expired
connect-expired-what = A request to connect can be answered for 10 minutes. Nothing was approved.
connect-expired-next = If you still want it, start again from the agent.
connect-answered-title = Already answered
connect-answered-what = This request has been answered, and an answer counts once.
connect-answered-next = On the page “Your agents” you see what is connected.
connect-gone-title = No such request
connect-gone-what = There is no open request at this address. Nothing was approved.
connect-gone-next = Check the address, or start again from the agent.

## Inbox

inbox-title = Inbox
inbox-title-waiting = Inbox: { $count ->
    [one] 1 question waits
   *[other] { $count } questions wait
  }
inbox-lead = What agents want to know from you before they go on. An answer counts once, and only before its time is over.
inbox-none-heading = Nothing waits for you
inbox-none = When an agent asks you something, it appears here.
inbox-waiting = Waiting for an answer
inbox-open = Read and answer
inbox-open-of = Read and answer: { $who }, { $what }
inbox-error-nothing-chosen = Choose whether it ran or did not run.
inbox-error-no-reason = Say how you found out, in at most 4,096 characters.
inbox-error-not-entitled = You may not say what became of this. It takes somebody who may approve it, other than the person for whom the agent acts. Nothing was changed.
inbox-error-known = What became of it has been said meanwhile, so nothing was changed.
live-label = News
live-off = This page does not update by itself.
live-on = New questions are announced here as they come.
live-reload = Reload
live-new = A new question is waiting.
live-read = Read it
live-accepted = A question on this page was answered with yes.
live-rejected = A question on this page was answered with no.
live-answered = A question on this page was answered.
live-expired = The time for a question on this page is over.
live-cancelled = A question on this page was withdrawn. It needs no answer any more.
live-gone = A question on this page is no longer open.
asked-by-operator = Verified domain of whoever runs this agent
asked-by-key = An agent with an API key of this service
asked-words-agent = In the agent’s own words. Nobody has checked them.
asked-words-service = Rendered by { $service } from the request
asked-action = What it wants to do
asked-consequence = What that brings about
asked-summary = Summary
asked-question = What it wants to know
asked-context = Context
asked-tool = Tool that would run:
asked-method = Method of the request
asked-target = Address that it goes to
asked-content-type = Type of its content
asked-body-bytes = Size of its content in bytes
asked-body-hash = SHA-256 of its content
asked-requested-by = Requested by
asked-cut = Shortened here; the page of the question has all of it.
call-heading-request = Also sent with it
call-heading-tool = What runs
call-source-request = Read from the request itself, not from the agent’s words. Values of the sender stand in quotes.
call-source-tool = Read from the call itself, not from the agent’s words. Values of the sender stand in quotes.
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
    [one] Another question in this list reads the same. What is different about this one:
   *[other] { $count } other questions in this list read the same. What is different about this one:
}
call-alike-same = { $count ->
    [one] Another question in this list reads the same and lets exactly the same run.
   *[other] { $count } other questions in this list read the same and let exactly the same run.
}
question-technical = Technical details
question-digest = SHA-256 of everything that runs
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
asked-yes-means = Your yes lets exactly this run once, within { $duration }.
asked-unanswered-rejected = It is not carried out.
asked-unanswered-accepted = It may be carried out; the record then says that nobody answered.
asked-unanswered-response = The agent goes on with this answer: { $response }
asked-unanswered-unavailable = The agent is told that there is no answer.
question-title = { $who } asks: { $what }
question-back = Everything that waits
question-id = Number of this question
question-answer-heading = Your answer
question-reason = Reason for a no (optional)
question-reason-hint = The agent gets to read it. A yes cannot carry conditions: if you want something else, say no.
question-reject = Reject
question-accept = Accept
question-no-only = Your yes does not count here: somebody else has to approve this. Your no counts.
question-one-of = Answer in one of these ways.
question-text = Your answer in words
question-number = Your answer as a number
question-yes-no = Yes or no
question-yes = Yes
question-no = No
question-choices = Choose one
question-send = Send the answer
question-send-of = Send the answer: { $what }
question-prove-first = This is important enough that your answer counts only if you have just given your password.
question-prove = Confirm it is you
question-not-here = This wants a stronger proof of who you are than this page can take. You can read it here, but not answer it.
question-nothing = You may read this, but your answer would not count.
question-more-heading = Do you need more time?
question-more-until = You can have it until
question-more = { $duration } more
question-became-heading = What became of it
question-runs-heading = What runs
question-reason-given = The reason:
question-response-given = The answer:
question-notice-more-time = There is more time now. Everybody who was asked is told.
question-notice-reconciled = It is recorded what became of it.
question-error-changed = Something about this question has changed since you saw it, so your answer did not count. Please read it again.
question-error-settled = Your answer did not count: the question was settled before it came. Below is what became of it.
question-error-too-late = Your answer did not count: it came after the time was over.
question-error-not-entitled = Your answer did not count: you may not decide this.
question-error-not-allowed = Your answer did not count: this question does not take it.
question-error-reason-too-long = The reason is too long. It has at most 4,096 characters.
question-error-no-number = Give a number, such as 42 or 3.5.
question-error-no-text = Give an answer, in at most 4,096 characters.
question-error-no-choice = Choose one of the answers.
became-open = It waits for an answer.
became-over = The time to answer is over.
became-accepted-you = You accepted it.
became-accepted-other = Somebody else who may decide it accepted it.
became-rejected-you = You rejected it.
became-rejected-other = Somebody else who may decide it rejected it.
became-answered-you = You answered it.
became-answered-other = Somebody else answered it.
became-expired = Nobody answered in time.
became-withdrawn = It was withdrawn. It needs no answer any more.
became-session-over = The agent’s session is over. It needs no answer any more.
became-revoked = The agent was cut off. It needs no answer any more.
became-word-open = Waiting
became-word-expired = Time over
became-word-accepted = Accepted
became-word-rejected = Rejected
became-word-answered = Answered
became-word-withdrawn = Withdrawn
became-word-over = Settled
expired-as-rejected = So it is not carried out.
expired-as-accepted = So it may be carried out, as the policy for this action says; the record says that nobody answered.
expired-as-response = So the agent goes on with this answer: { $response }
expired-as-unavailable = So the agent was told that there is no answer.
runs-may = Exactly this may run once, until
runs-lapsed = It did not run: nobody used the yes in time. It lapsed on
runs-cancelled = It may not run any more. The yes was called off on
runs-begun = It has begun, and the agent is to say what became of it by
runs-begun-gateway = The request was sent, and its answer is awaited until
runs-ran-agent = It ran, as the agent says, on
runs-ran-gateway = It ran: the service behind the gateway said so on
runs-ran-upstream = It ran: the service behind the gateway said so when it was asked, on
runs-ran-you = It ran, as you found out on
runs-ran-other = It ran, as somebody else found out on
runs-failed-agent = It failed, as the agent says, on
runs-failed-gateway = It failed, as the gateway saw, on
runs-failed-upstream = It did not run: the service behind the gateway said so when it was asked, on
runs-failed-you = It did not run, as you found out on
runs-failed-other = It did not run, as somebody else found out on
runs-released = It was handed on, and its effect was not observed. That was on
runs-unknown = Nobody knows whether it ran: it began, and nothing was heard of it since
unreported-heading = Did these run?
unreported-lead = Each of these was allowed and begun, and nobody has said what became of it. It is not tried again. Find out, and say what happened.
unreported-word = Outcome unknown
unreported-begun = Begun
unreported-since = Nothing heard since
unreported-asked-until = The service is being asked until
unreported-asked = The service behind is being asked whether it ran. Wait for its answer, or find out yourself: what you record ends the asking.
unreported-question = The question and its answer
unreported-question-of = The question and its answer: { $what }
unreported-what = What happened?
unreported-ran = It ran
unreported-did-not = It did not run
unreported-reason = How you found out
unreported-submit = Record it
unreported-not-yours = Somebody other than you has to say what became of this.

## Plans and open yeses

asked-words-plan = Rendered by { $service } from the plan. What stands in quotes are the agent’s own words.
became-called-off-you = You called it off. It needs no answer any more.
became-called-off-other = Somebody else who may decide it called it off. It needs no answer any more.
became-word-called-off = Called off
difference-heading = This is not what the approved plan says
difference-plan = The plan and how far it has come
question-arguments = Exactly what the tool is called with
question-locked = Locked
question-locked-for-you = This approval is locked: it takes no decision until whoever governs it unlocks it, or somebody with the right to override that decides.
question-override = Decide it although it is locked
question-open-heading = What your yes still allows
question-open-take-back = Take it back
question-error-locked = Your answer did not count: this approval is locked. If you have the right to, say that you decide it all the same.
question-error-out-of-bounds = Your answer did not count. The rules say: { $why }
more-heading = Allow more than this once
more-lead = Your yes then also counts for further calls of the same kind by this agent. Every argument stays exactly as shown, except an amount for which you give a bound here. You can take it back at any time.
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
more-unit = What it is counted in
more-unit-none = No unit (then it has no sum)
more-unit-of = As { $name } says, now { $unit }
more-fixed = This cannot be undone and its risk is high, so every argument stays as it is shown.
more-submit = Accept within these bounds
more-error-empty = Say how many times, for how long, or up to which amount. For exactly this once, use “Accept”.
more-error-uses = Give a whole number of times that is allowed here.
more-error-minutes = Give a whole number of minutes that is allowed here.
more-error-amount = Give an amount in digits, such as 500 or 500.00.
more-error-too-small = This must be at least { $amount }, or it would not even allow what is asked now.
more-error-no-unit = A sum needs a unit: choose what it is counted in.
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
planned-title = What the agent calls it
planned-objective = What it is for
planned-reason = Why the agent asks
planned-asking-role = Asked under the role
planned-changes = What changed since you were last asked
planned-unchanged = Nothing changed since you were last asked.
planned-choose = Which steps may run?
planned-step = Step { $number }
planned-words-owner = What would run, in the words of the service
planned-words-call = What would run: the call itself
planned-uses = { $count ->
    [one] Once.
   *[other] Up to { $count } times.
  }
planned-asks-again = You are asked again before each call.
planned-all-arguments = All arguments of step { $number }
planned-runs-nothing = Your yes lets nothing run for this step: it is the agent’s own business.
planned-after = Only after step { $steps }.
planned-role = For the role { $role }
planned-yes-means = Your yes lets the ticked steps run without another question for { $duration } from then on, each as often as it says and within its bounds. Everything else is still asked.
planned-accept = Approve the ticked steps
planned-page = The plan and how far it has come
planned-error-no-step = Tick at least one step, or reject the plan.
planned-error-needs = Step { $step } can only run after step { $needs }: tick that too, or leave both out.
inbox-yeses = { $count ->
    [0] Open yeses: none
   *[other] Open yeses: { $count }
  }
account-allowances = See and take back open yeses
allowances-title = Open yeses
allowances-lead = What agents may do without asking again, because somebody said yes to more than one call.
allowances-none-heading = No yes is open
allowances-none = Whatever an agent wants to do, you are asked first, unless the rules of the service say otherwise.
allowances-taken-back = It is taken back. Nothing more runs because of it.
allowances-error-nothing-left = There is nothing left of it to take back: it was used up, is over, or was taken back before.
allowances-error-not-yours = This yes is not yours to take back. Nothing was changed.
allowances-plan = The plan
allowances-plan-of = The plan: { $title }
allowance-open = Open
allowance-left = Can still be used: { $left } of { $uses }.
allowance-sum-left = { $left } of { $limit } left
allowance-until = Until
allowance-reason = Reason (optional)
allowance-take-back-of = Take back: { $what }
allowance-take-back-step = Take back step { $number }: { $what }
plan-title = Plan “{ $title }”: { $status }
plan-by = A plan by
plan-progress-label = How far it has come
plan-progress = { $done } of { $all } steps completed
plan-until = Its steps may run until
plan-feedback = Why it came back to the agent
plan-steps = Steps
plan-step-progress = { $done } of { $uses } calls done
plan-step-under-way = { $count ->
    [one] 1 call is under way.
   *[other] { $count } calls are under way.
  }
plan-step-lost = { $count ->
    [one] 1 call was used up without being done.
   *[other] { $count } calls were used up without being done.
  }
plan-left = What it may still run
plan-events = What happened last
plan-no-events = Nothing yet.
plan-event-plan = The plan: { $status }
plan-event-step = Step { $number }: { $status }
plan-take-back-heading = Take everything back
plan-take-back-lead = Nothing more of this plan runs then. What is under way cannot be stopped, and what was done stays done.
plan-take-back = Take the whole plan back
plan-taken-back = The plan is taken back. Nothing more of it runs.
plan-error-nothing-left = There is nothing to take back: the plan does not run.
plan-id = Number of this plan
plan-status-draft = Draft
plan-status-proposed = Waits for a decision
plan-status-approved = Approved
plan-status-in-progress = Under way
plan-status-completed = Completed
plan-status-cancelled = Cancelled
plan-status-failed = Failed
plan-status-approved-part = Approved in part
plan-status-in-progress-part = Under way, approved in part
plan-status-completed-part = Completed, approved in part
plan-approved-part = Only { $approved } of { $all } steps were approved. The others do not run.
step-approved = Approved
step-not-approved = Not approved: it does not run
step-approved-and = Approved. { $status }
step-status-pending = Not begun
step-status-in-progress = Under way
step-status-completed = Done
step-status-blocked = Held up
step-status-skipped = Left out
step-status-failed = Failed

## Your agents

agents-title = Your agents
agents-lead = Who may act for you, what for and until when. You can cut each of them off, at once.
agents-none-heading = Nobody acts for you
agents-none = When you approve an agent, it appears here.
agents-live = Connected
agents-ended = Ended
agents-service = In
agents-since = Since
agents-until = Until
agents-last-used = Last used
agents-ended-at = Ended
agents-why = Why
agents-did = What it did
agents-did-of = What it did: { $domain }
agents-cut-off = Cut off
agents-cut-off-of = Cut off { $domain }
state-active = Active
state-suspended = Suspended
state-ended = Ended
ended-policy-expired = Its time was over.
ended-inactivity = It was not used for long.
ended-task-complete = Its task was done.
ended-event-triggered = Something changed in your account or organisation.
ended-manual-revoke = It was cut off.
ended-key-rotation = Its operator withdrew the key.
notice-revoked = { $domain } is cut off. It has no access any more.
notice-already-revoked = { $domain } was cut off before. It has no access.
agent-back = All your agents
agent-id = Number of this connection
agent-audit-heading = What it did
agent-audit-caption = { $count ->
    [one] 1 entry in all. Times are in UTC.
   *[other] { $count } entries in all. Times are in UTC.
  }
agent-audit-none = It has not done anything yet.
audit-time = Time
audit-method = Method
audit-path = Path
audit-intent = Purpose
audit-outcome = Outcome
audit-session = Session
audit-no-intent = none
agent-pages = More entries
agent-next = Next entries
agent-first = First entries
suspended-heading = On hold
suspended-why = This service was restored from a backup, so it cannot know whether you cut this agent off since. If you did not, allow it again.
suspended-lift = Allow again
revoke-title = Cut off { $domain }?
revoke-before = Cut off this agent?
revoke-lead = It loses its access at once, also in the middle of a task. What it has done already stays done.
revoke-again = To come back, it has to ask you again.
revoke-loses = What it can then no longer do
revoke-submit = Cut off
revoke-keep = Keep it

## Account

account-title = Account
account-name = Name
account-username = User name
account-signed-in = Signed in since
account-expires = Ends by itself
account-here-heading = On this device
account-sign-out = Sign out
account-everywhere-heading = On every device
account-everywhere = Ends every sign-in of yours, also this one, and the tokens of all your subscribers. Your agents keep their access: you cut them off on the page “Your agents”.
account-sign-out-everywhere = Sign out everywhere
subscribers-heading = Subscribers
subscribers-lead = Programs of yours that hear what agents ask you: a screen reader, a speaker, a script. Each has a token of its own, and you can take each one back.
subscribers-none = There are none.
subscriber-answers = Hears and answers for you.
subscriber-listens = Only listens.
subscriber-approves-high-risk = May approve high-risk actions that cannot be undone.
subscriber-in-address = Its token stands in its address.
subscriber-revoke = Take back
subscriber-revoke-of = Take back: { $name }
subscriber-taken-back = { $name } is taken back. It hears and answers nothing any more.
subscriber-new = Another one
subscriber-project = What it hears of
subscriber-name = What you call it
subscriber-may-answer = It may answer for me
subscriber-high-risk = It may also approve high-risk actions that cannot be undone
subscriber-high-risk-hint = Without this you answer such questions on these pages. You are asked for your password unless you entered it in the last five minutes.
subscriber-days = { $count ->
    [one] It is good for one day, and ends earlier when you sign out everywhere or get a new password.
   *[other] It is good for { $count } days, and ends earlier when you sign out everywhere or get a new password.
}
subscriber-legacy = It cannot send a token, so put the token into its address
subscriber-legacy-hint = Only for old programs. Whoever sees the address can do what the program can.
subscriber-make = Make a token
subscriber-error-name = Give it a name of at most 128 characters.
subscriber-error-legacy = This service does not let tokens stand in addresses.
subscriber-error-listens = A program that only listens approves nothing: let it answer, or leave that out.
subscriber-made-title = Give the program this token
subscriber-made-lead = “{ $name }” can listen as soon as it has it.
subscriber-made-token = Token
subscriber-made-copy = Copy token
subscriber-made-endpoint = Address with the token in it
subscriber-made-once = It is not shown again. Whoever has it can do what the program can, until you take it back.
subscriber-made-back = Back to the account

## When a page cannot be shown

trouble-bad-request-title = This request cannot be understood
trouble-bad-request-what = Something in the address or the form is not as it should be. Nothing was changed.
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
trouble-internal-next = Look at the page “Your agents” before you try again. If it happens again, tell the administrator the number below.
trouble-unavailable-title = Not available at the moment
trouble-unavailable-what = The service refuses everything until it can keep its records again.
trouble-unavailable-next = Try again in a minute.
error-next = What you can do
error-request-id = Number of this request
error-home = Start page

## Home

home-title = Consent for AI agents
home-lead = { $service } lets AI agents act for people, but only for those who agreed: for what they agreed to, for as long as they agreed.
home-people-heading = For you
home-inbox = See and answer what agents ask you
home-agents = See and end what agents may do for you
home-sign-in = Sign in
home-account = Your account
home-machines-heading = For agents and their makers
home-manifest = How agents connect (discovery manifest)
home-openapi = The API (OpenAPI)
home-rules-heading = What you can rely on
home-rule-domain = You see the verified domain of whoever asks, not just a name.
home-rule-end = When you cut an agent off, it stops at once.
home-rule-record = Everything an agent does for you is recorded, and you can read it.

## What was unclear

asked-words-rule = Asked by a rule of { $service }, because the agent’s plan leaves it open. What stands in quotes are the agent’s own words.
asked-unanswered-stopped = It stays open, and the agent stays stopped.
clarified-heading = What was clarified before
clarified-field = Place in the agent’s plan
clarified-question = Question
clarified-answer = Answer
clarified-own = The agent’s own answer: nobody else gave or checked it
clarified-person = A person’s answer
clarified-more = { $count ->
    [one] There is one more answer; the record has it.
   *[other] There are { $count } more answers; the record has all of them.
  }
clarified-record = Record of all questions and answers
gap-heading = The agent is stopped until this is answered
gap-stops = Until then it gets neither its plan nor an attestation.
gap-stops-also = Until then it gets neither its plan nor an attestation, and this is stopped: { $what }.
gap-planner = planning
gap-developer = developing
gap-build = carrying out
gap-attest = attesting
gap-field = It is about this place in the agent’s plan:
gap-why = Why it is asked
gap-may-stand = This is a warning. If you answer with the word accept, it is left as it is.
abandon-heading = Is this not wanted any more?
abandon-means = If you abandon the clarification, nobody is asked about it any more, the agent’s plan is not confirmed, and what it stopped goes on.
abandon-button = Abandon the clarification
gap-said = What the agent said itself
gap-not-taken = This was not taken as an answer:
