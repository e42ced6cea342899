// A redirect to the operator: the page's own policy must allow it, with the code alone.

import { check, tell, visit } from "./browser.mjs";
import { fill, enter, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, complaints } = await visit(browser, { ignoreHTTPSErrors: true });
  await page.goto(`${given.origin}/connect/${given.request}`);
  await fill(page, "User name", given.name);
  await fill(page, "Password", given.password);
  await enter(page, "Sign in");
  await tabTo(page, "I have read this");
  await page.keyboard.press("Space");
  const approved = await leave(page, given, "Approve");

  await page.goto(`${given.origin}/connect/${given.second_request}`);
  const denied = await leave(page, given, "Reject");
  check(complaints.length === 0, complaints.join("\n"));
  return { approved, denied };
});

/** Answers, and waits for the operator's response, which may be a 404 here. */
async function leave(page, given, name) {
  const arrives = page.waitForResponse((response) => response.url().startsWith(`https://${given.domain}/`));
  await enter(page, name);
  return (await arrives).url();
}
