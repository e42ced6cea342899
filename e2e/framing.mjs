// A page that puts the consent page into a frame, on another origin or on ours, gets an empty frame.

import { check, tell, visit } from "./browser.mjs";
import { enter, fill } from "./keyboard.mjs";

await tell(async (browser, given) => {
  const { page, context } = await visit(browser);
  const path = `/connect/${given.request}`;
  await page.goto(`${given.origin}${path}`);
  await fill(page, "User name", given.name);
  await fill(page, "Password", given.password);
  await enter(page, "Sign in");
  check((await page.locator("h1").textContent()).includes(given.domain), "not even the page itself can be seen");

  for (const framer of ["http://framer.test/", `${given.origin}/framer`]) {
    const body = `<!doctype html><title>framer</title><iframe src="${given.origin}${path}"></iframe>`;
    await context.route(framer, (route) => route.fulfill({ contentType: "text/html", body }));
    await page.goto(framer);
    const framed = page.frames().at(1);
    await framed.waitForLoadState();
    const shown = await framed.locator("body").textContent();
    check(framed.url().startsWith("chrome-error://"), `${framer} could frame the page: ${framed.url()}`);
    check(!shown.includes(given.domain), `${framer} shows ${shown}`);
  }
});
