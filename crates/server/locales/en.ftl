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
mode-user-delegated = The agent acts as you, with your rights in this service and nothing beyond them. What it sees and does can differ from what it would see and do for someone else.
mode-service-account = The agent does not act as you. It uses an account of its own, with rights that an administrator has given it.
liability-default = If this agent does harm that you did not want, { $operator } has to look into it and put it right as far as it can. You can cut the agent off whenever you like. What it did before that may be impossible to reverse.
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
account-everywhere = Ends every sign-in of yours, also this one. Your agents keep their access: you cut them off on the page “Your agents”.
account-sign-out-everywhere = Sign out everywhere

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
