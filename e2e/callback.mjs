// An answer that leaves for the operator: the page's own policy must let the browser go, with the code alone.

import { check, tell, visit } from "./browser.mjs";
import { enter, fill, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, complaints } = await visit(browser, { ignoreHTTPSErrors: true });
  await page.goto(`${given.origin}/connect/${given.request}`);
  await fill(page, "User name", given.name);
  await fill(page, "Password", given.password);
  await enter(page, "Sign in");
  await tabTo(page, "I have read this");
  await page.keyboard.press("Space");
  await enter(page, "Approve");
  const approved = new URL(page.url());
  check(approved.origin === `https://${given.domain}`, `the answer led to ${approved}`);

  await page.goto(`${given.origin}/connect/${given.second_request}`);
  await enter(page, "Deny");
  const denied = new URL(page.url());
  check(denied.origin === `https://${given.domain}`, `the answer led to ${denied}`);
  check(complaints.length === 0, complaints.join("\n"));
  return { approved: approved.href, denied: denied.href };
});
