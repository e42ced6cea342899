// The consent page in German.

import { check, judge, spoken, tell, visit } from "./browser.mjs";
import { enter, fill, tabTo } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, complaints } = await visit(browser, { locale: "de-DE" });
  await page.goto(`${given.origin}/connect/${given.request}`);
  await inGerman(page, "sign-in-de", given);
  await fill(page, "Benutzername", given.name);
  await fill(page, "Passwort", given.password);
  await enter(page, "Anmelden");
  await inGerman(page, "connect-de", given);
  const heard = await spoken(page);
  for (const word of [given.domain, "Nicht rückgängig zu machen", "90 Tage"]) {
    check(heard.includes(word), `a screen reader does not say “${word}”:\n${heard}`);
  }
  await enter(page, "Genehmigen");
  await inGerman(page, "connect-unticked-de", given);
  await tabTo(page, "Ich habe das gelesen");
  await page.keyboard.press("Space");
  await enter(page, "Genehmigen");
  await inGerman(page, "connected-de", given);
  const code = (await page.locator("#code").textContent()).trim();
  await enter(page, "Ihre Agenten");
  await inGerman(page, "agents-de", given);
  check(complaints.length === 0, complaints.join("\n"));
  return { code };
});

async function inGerman(page, name, given) {
  check((await page.locator("html").getAttribute("lang")) === "de", `${name} is not in German`);
  await judge(page, name, given);
}
