// The same flow without JavaScript: every page works with forms and links alone.

import { check, spoken, tell, visit } from "./browser.mjs";
import { enter, fill, hasFocus, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, complaints } = await visit(browser, { javaScriptEnabled: false });
  await page.goto(`${given.origin}/connect/${given.request}`);
  await fill(page, "User name", given.name);
  await fill(page, "Password", given.password);
  await enter(page, "Sign in");
  check((await spoken(page)).includes(given.domain), "the consent page does not name the operator");
  await enter(page, "Approve");
  await hasFocus(page, "problem", "the error summary does not have the focus");
  await tabTo(page, "I have read this");
  await page.keyboard.press("Space");
  await enter(page, "Approve");
  check(await page.locator("[data-copy]").isHidden(), "a button that needs a script is shown without one");
  const code = (await page.locator("#code").textContent()).trim();
  await enter(page, "See this connection or revoke its access");
  await enter(page, "Revoke access");
  await enter(page, "Revoke access");
  check((await spoken(page)).includes(`Access of ${given.domain} is revoked.`), "nothing says that its access is revoked");
  check(complaints.length === 0, complaints.join("\n"));
  return { code };
});
