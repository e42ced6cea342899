// The whole flow by keyboard: sign in, read, forget the tick, approve, list the agents, revoke the access of one.

import { check, judge, spoken, tell, visit } from "./browser.mjs";
import { enter, fill, hasFocus, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, complaints } = await visit(browser);
  await page.goto(`${given.origin}/`);
  await judge(page, "home", given);

  await page.goto(`${given.origin}/connect/${given.request}`);
  check(page.url().includes("/sign-in?next="), `not asked to sign in, but sent to ${page.url()}`);
  await judge(page, "sign-in", given);
  await signIn(page, given);

  check(page.url() === `${given.origin}/connect/${given.request}`, `signing in led to ${page.url()}`);
  await judge(page, "connect", given);
  await hears(page, [given.domain, "Cannot be undone", "90 days from your approval", "is responsible for"]);

  await enter(page, "Approve");
  await tellsTheProblem(page);
  await judge(page, "connect-unticked", given);
  await mendsIt(page);
  await enter(page, "Approve");

  const code = (await page.locator("#code").textContent()).trim();
  await judge(page, "connected", given);
  await revokes(page, given);
  await leave(page, given);
  check(complaints.length === 0, complaints.join("\n"));
  return { code };
});

async function signIn(page, given) {
  await fill(page, "User name", given.name);
  await fill(page, "Password", "not the password");
  await enter(page, "Sign in");
  await hasFocus(page, "problem", "what is wrong with the password does not have the focus");
  await judge(page, "sign-in-wrong", given);
  await fill(page, "Password", given.password);
  await enter(page, "Sign in");
}

async function hears(page, words) {
  const heard = await spoken(page);
  for (const word of words) check(heard.includes(word), `a screen reader does not say “${word}”:\n${heard}`);
}

async function tellsTheProblem(page) {
  await hasFocus(page, "problem", "the error summary does not have the focus");
  check((await page.title()).startsWith("Error: "), "the title does not begin with the error");
}

/** The summary leads to the faulty field. */
async function mendsIt(page) {
  await tabTo(page, "To approve, confirm that you have read the text under “If something goes wrong”.");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "acknowledged");
  await page.keyboard.press("Space");
}

async function revokes(page, given) {
  await enter(page, "Your agents");
  await judge(page, "agents", given);
  await hears(page, [given.domain, given.earlier]);
  await enter(page, `Activity: ${given.earlier}`);
  await judge(page, "agent", given);
  await hears(page, ["/calendar/events", "READ_CALENDAR", "403 scope_not_granted"]);
  await enter(page, "Revoke access");
  await judge(page, "revoke", given);
  await enter(page, "Revoke access");
  await hasFocus(page, "notice", "the notice of the revocation does not have the focus");
  await hears(page, [`Access of ${given.earlier} is revoked.`]);
  await judge(page, "agents-revoked", given);
}

async function leave(page, given) {
  await page.goto(`${given.origin}/connect/${given.request}`);
  await judge(page, "connect-answered", given);
  await page.goto(`${given.origin}/agents/del_nowhere`);
  await judge(page, "not-found", given);
  await page.goto(`${given.origin}/sign-in?fresh`);
  await judge(page, "sign-in-fresh", given);
  await page.goto(`${given.origin}/account`);
  await judge(page, "account", given);
  await enter(page, "Sign out");
  await hasFocus(page, "notice", "the news that one is signed out does not have the focus");
  await judge(page, "signed-out", given);
}
