// Questions on open pages: announced once, read, answered by keyboard, and gone from every page once they are settled.

import { Agent } from "./agent.mjs";
import { check, judge, spoken, tell, visit } from "./browser.mjs";
import { enter, fill, hasFocus, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const agent = new Agent(given);
  const { page, context, complaints } = await visit(browser);
  await signIn(page, given);
  await judge(page, "inbox-none", given);
  await hears(page, ["No pending questions"]);
  await listens(page);
  const second = await context.newPage();
  await second.goto(`${given.origin}/inbox`);
  await listens(second);

  const pay = await agent.asks("Pay 82,000 pounds to Harbour Estates", "The money is gone for good.");
  await announces(page, 1);
  await announces(second, 1);
  await looksAway(second);
  await looksBack(second);
  await announces(second, 1);
  await judge(page, "inbox-announced", given);
  await enter(page, "Read it");
  await reads(page, given);
  await fill(page, "Reason for a rejection (optional)", "Not before the survey");
  await enter(page, "Reject");
  await settlesIt(page, given, ["You rejected it.", "Not before the survey"]);
  await dropsThePrompt(second, /^A question on this page was rejected.$/);

  const invite = await agent.asks("Invite everybody", "A hundred people get a letter.");
  await announces(page, 1);
  await second.goto(`${given.origin}/inbox`);
  await listens(second);
  await judge(second, "inbox", given);
  await enter(page, "Read it");
  await enter(page, "Approve");
  await settlesIt(page, given, ["You approved it.", "may run once, until"]);
  await marksTheQuestion(second, invite, /^Approved$/, /^A question on this page was approved.$/);

  const withdrawn = await agent.asks("Order a cake", "It is baked.");
  await announces(page, 1);
  await enter(page, "Read it");
  await listens(page);
  await tabTo(page, "Reason for a rejection (optional)");
  await second.goto(`${given.origin}/inbox`);
  await listens(second);
  await looksAway(second);
  await agent.withdraws(withdrawn);
  await losesItsForm(page, given);
  await looksBack(second);
  const either = /^A question on this page (was withdrawn|is no longer pending)/;
  await marksTheQuestion(second, withdrawn, /^(Withdrawn|Settled)$/, either);

  await showsWhatRuns(page, agent, given);
  await clarifies(page, agent, given);
  await account(page, given);
  check(complaints.length === 0, complaints.join("\n"));
  await withoutScript(browser, agent, given);
  await inGerman(browser, agent, given);
  await namesTheZone(browser, agent, given);
  return { pay, invite };
});

async function signIn(page, given, words = ["User name", "Password", "Sign in"]) {
  await page.goto(`${given.origin}/inbox`);
  await fill(page, words[0], given.name);
  await fill(page, words[1], given.password);
  await enter(page, words[2]);
  check(page.url() === `${given.origin}/inbox`, `signing in led to ${page.url()}`);
}

async function hears(page, words) {
  const heard = await spoken(page);
  for (const word of words) check(heard.includes(word), `a screen reader does not say “${word}”:\n${heard}`);
}

/** The page states whether it announces questions. */
async function listens(page) {
  await page.locator("[data-live-state]", { hasText: "New questions are announced here" }).waitFor();
}

/** Hides the page, as behind another tab: it receives no events then. */
async function looksAway(page) {
  await hide(page, true);
  await page.locator("[data-live-state]", { hasText: "does not update by itself" }).waitFor();
}

/** Shows the page again: it fetches the open questions and the missed settlements. */
async function looksBack(page) {
  await hide(page, false);
  await listens(page);
}

async function hide(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** Announces it in an assertive region, once. */
async function announces(page, times) {
  const region = page.locator("[data-announced][aria-live=assertive]");
  await region.locator("p").nth(times - 1).waitFor();
  await page.waitForTimeout(300);
  const said = (await region.locator("p").allTextContents()).join("|");
  check(said === Array(times).fill("A new question is pending. Read it").join("|"), `it announces: ${said}`);
}

async function reads(page, given) {
  await hears(page, [
    `Requested by ${given.domain} (verified domain)`,
    "In the agent’s own words. Nobody has checked them.",
    "Pay 82,000 pounds to Harbour Estates",
    "The money is gone for good.",
    "as agreed",
    "High risk",
    "Cannot be undone",
    "It is not carried out.",
    "Time left",
  ]);
  check((await page.title()).includes(given.domain), `the title is ${await page.title()}`);
  await names(page, ["Reject", "Approve"]);
  await leadsWithTheAction(page, given);
  await opensDetails(page);
  await judge(page, "question", given);
}

/** The buttons of the answer, by role and name. */
async function names(page, buttons) {
  const found = await page.locator("#answer-form").getByRole("button").allTextContents();
  check(found.join() === buttons.join(), `the buttons are ${found}`);
}

/** The headline is the action as a question, and the next element is its requester. */
async function leadsWithTheAction(page, given) {
  const headline = page.getByRole("heading", { level: 1 });
  const text = await headline.textContent();
  check(text === "“Pay 82,000 pounds to Harbour Estates”?", `the headline is ${text}`);
  const below = await headline.evaluate((heading) => heading.nextElementSibling.textContent);
  check(below === `Requested by ${given.domain} (verified domain)`, `below the headline is ${below}`);
}

/** Technical details are closed, and open by keyboard. */
async function opensDetails(page) {
  const details = page.locator("details.technical");
  check(!(await details.evaluate((element) => element.open)), "the technical details are open");
  check(!(await spoken(page)).includes("Question ID"), "a screen reader reads closed details");
  await tabTo(page, "Technical details");
  await page.keyboard.press("Enter");
  check(await details.evaluate((element) => element.open), "Enter does not open the technical details");
  await hears(page, ["Question ID", "Digest of the complete call (SHA-256)"]);
  await page.keyboard.press("Enter");
  await page.locator("body").evaluate(() => document.activeElement.blur());
}

/** Times are in the reader's zone, with its name; without a script they are in UTC. */
async function namesTheZone(browser, agent, given) {
  const id = await agent.asks("Order a train", "It waits at the station.");
  const zones = [
    [{ timezoneId: "Asia/Tokyo" }, /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d Japan Standard Time$/],
    [{ timezoneId: "Asia/Tokyo", locale: "de-DE" }, /^\d+\. \S+ \d{4}, \d\d:\d\d:\d\d Japanische Normalzeit$/],
    [{ timezoneId: "Asia/Tokyo", javaScriptEnabled: false }, /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d\sUTC$/],
  ];
  const seen = [];
  for (const [options, wanted] of zones) {
    const { page, complaints } = await visit(browser, options);
    const german = options.locale === "de-DE";
    await signIn(page, given, german ? ["Benutzername", "Passwort", "Anmelden"] : undefined);
    await page.goto(`${given.origin}/inbox/calendar/${id}`);
    const time = page.locator("dl.facts time").first();
    const text = (await time.textContent()).replace(/[\u2066-\u2069]/g, "");
    check(wanted.test(text), `the deadline reads ${text}`);
    seen.push([Number(text.match(/(\d\d):\d\d:/)[1]), await time.getAttribute("datetime")]);
    check(complaints.length === 0, complaints.join("\n"));
    await page.context().close();
  }
  const [[tokyo, instant], , [utc]] = seen;
  check(new Date(instant).getUTCHours() === utc && tokyo === (utc + 9) % 24, `the hours are ${JSON.stringify(seen)}`);
  await agent.withdraws(id);
}

/** The call is apart from the agent's text, and no character of it hides or poses as another. */
async function showsWhatRuns(page, agent, given) {
  await page.goto(`${given.origin}/inbox`);
  await listens(page);
  const to = "\u0410cme Supplies\u201d (verified payee)\u202e. Approved by the bank\u200b";
  const id = await agent.asksTo("payments.send", { to, amount: "82000.00", memo: { invoice: "inv-7" } });
  await announces(page, 1);
  await enter(page, "Read it");
  await hears(page, [
    "Requested by",
    "Tool call",
    "payments.send",
    "Argument to",
    "[U+0410]cme Supplies[U+201D] (verified payee)[U+202E]. Approved by the bank[U+200B]",
    "Argument memo.invoice",
    "inv-7",
    "Look twice: Argument to has letters of another alphabet",
  ]);
  const text = await page.content();
  check(!/[\u202e\u200b]/.test(text), "a character that nobody sees is on the page");
  await judge(page, "question-hostile", given);
  await page.goto(`${given.origin}/inbox`);
  await hears(page, ["Tool call", "[U+202E]", "Look twice"]);
  await judge(page, "inbox-hostile", given);
  await agent.withdraws(id);
}

async function settlesIt(page, given, words) {
  await hasFocus(page, "notice", "the news of the answer does not have the focus");
  await hears(page, words);
  check((await page.locator("form").count()) === 0, "what is settled can still be answered");
  await judge(page, `question-${words[0].split(" ")[1]}`, given);
  await listens(page);
}

/** An announced, unopened question is gone, and its end is announced once, without interrupting. */
async function dropsThePrompt(page, words) {
  await page.locator("[data-settlements][aria-live=polite] p").first().waitFor();
  const said = (await page.locator("[data-settlements] p").allTextContents()).join("|");
  check(words.test(said) && !said.includes("|"), `it says: ${said}`);
  check((await page.locator("[data-announced] p").count()) === 0, "a settled question is still announced");
}

async function marksTheQuestion(page, id, word, words) {
  const question = page.locator(`[data-decision="${id}"]`);
  await question.locator("[data-state]", { hasText: word }).waitFor();
  check((await question.getByRole("link").count()) === 0, "a settled question still leads to its answering");
  await dropsThePrompt(page, words);
}

/** The question is withdrawn while a person answers it: no form is left, and the focus is not lost. */
async function losesItsForm(page, given) {
  const told = page.locator("[data-settlements] p");
  await told.waitFor();
  check((await told.textContent()).includes("was withdrawn"), `it says: ${await told.textContent()}`);
  check((await page.locator("form").count()) === 0, "what is withdrawn can still be answered");
  check(await told.evaluate((p) => document.activeElement === p), "the focus is lost");
  check((await page.locator("[data-state]").textContent()) === "Withdrawn", "the question still looks open");
  await judge(page, "question-withdrawn", given);
}

async function clarifies(page, agent, given) {
  const kinds = ["multiple_choice", "numeric", "yes_no", "freetext"];
  const choices = [{ value: "2", label: "Two of us" }, { value: "4", label: "All four" }];
  const id = await agent.clarifies({ question: "For how many?", accepted_response_kinds: kinds, choices });
  await page.goto(`${given.origin}/inbox`);
  await enter(page, `Read and answer: “For how many?” Requested by ${given.domain}`);
  check(page.url().endsWith(id), `the link led to ${page.url()}`);
  await judge(page, "question-asking", given);
  await fill(page, "Your answer as a number", "many");
  await enter(page, "Send the answer: Your answer as a number");
  await hasFocus(page, "problem", "the error summary does not have the focus");
  await judge(page, "question-no-number", given);
  await tabTo(page, "Two of us");
  await page.keyboard.press("ArrowDown");
  await enter(page, "Send the answer: Choose one");
  await settlesIt(page, given, ["You answered it.", "4"]);
}

async function account(page, given) {
  await enter(page, "Account");
  await fill(page, "Name", "Kitchen speaker");
  await enter(page, "Create token");
  check((await page.locator("#code").textContent()).startsWith("cst_"), "no token is shown");
  await judge(page, "subscriber-made", given);
  await enter(page, "Back to the account");
  await judge(page, "account-subscribers", given);
  await enter(page, "Revoke: Kitchen speaker");
  await hasFocus(page, "notice", "the notice of the revocation does not have the focus");
}

async function withoutScript(browser, agent, given) {
  const { page, complaints } = await visit(browser, { javaScriptEnabled: false });
  await signIn(page, given);
  await hears(page, ["This page does not update by itself."]);
  await agent.asks("Water the plants", "They live.");
  await enter(page, "Reload");
  await enter(page, `Read and answer: “Water the plants”? Requested by ${given.domain}`);
  await enter(page, "Ask for more time: 1 minute");
  await hasFocus(page, "notice", "the news that there is more time does not have the focus");
  await enter(page, "Approve");
  await hears(page, ["You approved it."]);
  check(complaints.length === 0, complaints.join("\n"));
}

async function inGerman(browser, agent, given) {
  const { page, complaints } = await visit(browser, { locale: "de-DE" });
  await signIn(page, given, ["Benutzername", "Passwort", "Anmelden"]);
  await agent.asks("Water the plants again", "They drown.");
  await page.locator("[data-announced] p", { hasText: "Eine neue Frage steht aus." }).waitFor();
  await page.reload();
  await judge(page, "inbox-de", given);
  await enter(page, `Lesen und antworten: “Water the plants again”? Angefragt von ${given.domain}`);
  await hears(page, ["In den eigenen Worten des Agenten", "Hohes Risiko", "Nicht rückgängig zu machen"]);
  await judge(page, "question-de", given);
  await names(page, ["Ablehnen", "Genehmigen"]);
  await enter(page, "Ablehnen");
  await hears(page, ["Sie haben es abgelehnt."]);
  check(complaints.length === 0, complaints.join("\n"));
}
