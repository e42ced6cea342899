// One approval for many calls, by keyboard alone: a plan approved in part, a standing approval, and both revoked.

import { Agent } from "./agent.mjs";
import { check, judge, spoken, tell, visit } from "./browser.mjs";
import { enter, fill, hasFocus, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const agent = new Agent(given);
  const { page, complaints } = await visit(browser);
  await signIn(page, given);
  await hears(page, ["Standing approvals: none"]);

  await approvesSome(page, agent, given);
  await standingApproval(page, agent, given);
  await revokesOne(page, agent, given);
  await revokesAll(page, agent, given);
  check(complaints.length === 0, complaints.join("\n"));
  await withoutScript(browser, agent, given);
  await inGerman(browser, agent, given);
});

function id(n) {
  return `00000000-0000-4000-8000-0000000000${n}`;
}

function notes(amount, box = "blue") {
  return { amount, currency: "EUR", box };
}

function plan(n) {
  const step = (m, description, after = []) => ({
    step_id: id(m),
    description,
    status: "pending",
    dependencies: after.map(id),
  });
  return {
    plan: {
      meta: { protocol_version: "1.0.0", schema_version: "1.0.0" },
      plan_id: id(n),
      context_id: id("cc"),
      title: "Tidy up",
      objective: "Nothing lies around any more",
      status: "draft",
      steps: [step("01", "Archive the notes"), step("02", "Tell everybody"), step("03", "Report", ["01"])],
    },
    actions: {
      [id("01")]: {
        tool: "notes.archive",
        arguments: notes(80),
        released: { amount: { most: "100", sum: "250", unit_from: "currency" } },
        uses: 3,
      },
      [id("02")]: { tool: "mail.send", arguments: { to: "everybody" } },
    },
  };
}

async function signIn(page, given, words = ["User name", "Password", "Sign in"]) {
  await page.goto(`${given.origin}/inbox`);
  await fill(page, words[0], given.name);
  await fill(page, words[1], given.password);
  await enter(page, words[2]);
}

async function hears(page, words) {
  const heard = await spoken(page);
  for (const word of words) check(heard.includes(word), `a screen reader does not say “${word}”:\n${heard}`);
}

async function press(page, name, key) {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

async function approvesSome(page, agent, given) {
  const decision = await agent.proposes(plan("aa"));
  await page.goto(`${given.origin}/inbox/calendar/${decision}`);
  await hears(page, [
    "Which steps may run?",
    "Step 1",
    "Archive the notes",
    "amount: at most 100 EUR, and altogether at most 250 EUR",
    "Up to 3 times.",
    "Only after step 1.",
    "An approval permits no call for this step",
  ]);
  await judge(page, "question-plan", given);
  await press(page, "Step 1", "Space");
  await enter(page, "Approve the ticked steps");
  await hasFocus(page, "problem", "the error summary does not have the focus");
  await hears(page, ["Step 3 can only run after step 1"]);
  await judge(page, "question-plan-needs", given);
  await press(page, "Step 1", "Space");
  await press(page, "Step 2", "Space");
  await enter(page, "Approve the ticked steps");
  await hasFocus(page, "notice", "the notice of the answer does not have the focus");
  await hears(page, ["You approved it."]);
  await judge(page, "question-plan-approved", given);
  await agent.asksTo("notes.archive", notes(100), 200);
  await agent.asksTo("mail.send", { to: "everybody" }, 201);
  await enter(page, "The plan and its progress");
  await hears(page, ["Approved in part", "0 of 2 steps completed", "Not approved: it does not run", "Uses left: 3 of 3."]);
  await judge(page, "plan", given);
}

async function standingApproval(page, agent, given) {
  const decision = await agent.asksTo("notes.archive", notes(80, "red"));
  await page.goto(`${given.origin}/inbox/calendar/${decision}`);
  await hears(page, ["This deviates from the approved plan", "Tool call"]);
  await judge(page, "question-differs", given);
  await press(page, "Give a standing approval", "Enter");
  await judge(page, "question-more", given);
  await fill(page, "How many times", "many");
  await enter(page, "Approve within these limits");
  await hasFocus(page, "problem", "the error summary does not have the focus");
  await hears(page, ["Give a whole number of times"]);
  await judge(page, "question-more-wrong", given);
  // The error summary leads to the field.
  await press(page, "Give a whole number of times that is allowed here.", "Enter");
  await hasFocus(page, "uses", "the error does not lead to its field");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("3");
  await fill(page, "For how many minutes", "30");
  await fill(page, "Altogether up to", "250");
  await enter(page, "Approve within these limits");
  await hasFocus(page, "notice", "the notice of the answer does not have the focus");
  await hears(page, ["You approved it.", "Uses left: 3 of 3.", "250 EUR of 250 EUR left"]);
  await judge(page, "question-more-given", given);
  await agent.asksTo("notes.archive", notes(250, "red"), 200);
  await agent.asksTo("notes.archive", notes(251, "red"), 201);
}

async function revokesOne(page, agent, given) {
  await enter(page, "See and revoke standing approvals");
  await hears(page, ["Standing approvals", "Tidy up", "Call notes.archive"]);
  await judge(page, "allowances", given);
  await enter(page, `Revoke: notes.archive {"amount":80,"box":"red","currency":"EUR"}`);
  await hasFocus(page, "notice", "the notice of the revocation does not have the focus");
  await hears(page, ["The standing approval is revoked."]);
  await judge(page, "allowances-taken-back", given);
  await agent.asksTo("notes.archive", notes(79, "red"), 201);
}

async function revokesAll(page, agent, given) {
  await enter(page, "The plan: Tidy up");
  await fill(page, "Reason (optional)", "Enough for today");
  await enter(page, "Revoke the whole plan");
  await hasFocus(page, "notice", "the notice of the revocation does not have the focus");
  await hears(page, ["The plan is revoked.", "Cancelled", "Enough for today"]);
  await judge(page, "plan-taken-back", given);
  await agent.asksTo("notes.archive", notes(99), 201);
}

async function withoutScript(browser, agent, given) {
  const { page, complaints } = await visit(browser, { javaScriptEnabled: false });
  await signIn(page, given);
  const decision = await agent.proposes(plan("bb"));
  await page.goto(`${given.origin}/inbox/calendar/${decision}`);
  await press(page, "Step 2", "Space");
  await enter(page, "Approve the ticked steps");
  await hears(page, ["You approved it."]);
  await agent.asksTo("notes.archive", notes(90), 200);
  check(complaints.length === 0, complaints.join("\n"));
}

async function inGerman(browser, agent, given) {
  const { page, complaints } = await visit(browser, { locale: "de-DE" });
  await signIn(page, given, ["Benutzername", "Passwort", "Anmelden"]);
  const decision = await agent.proposes(plan("dd"));
  await page.goto(`${given.origin}/inbox/calendar/${decision}`);
  await hears(page, ["Welche Schritte dürfen ausgeführt werden?", "Erst nach Schritt 1."]);
  await judge(page, "question-plan-de", given);
  await enter(page, "Ablehnen");
  await hears(page, ["Sie haben es abgelehnt."]);
  await page.goto(`${given.origin}/allowances`);
  await hears(page, ["Dauergenehmigungen", "Noch nutzbar: 3 von 3."]);
  await judge(page, "allowances-de", given);
  check(complaints.length === 0, complaints.join("\n"));
}
