// A real browser for one scenario: started, observed, and closed on every exit.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Runs a scenario with the JSON input of the Rust test; its result goes to standard output. */
export async function tell(story) {
  const given = JSON.parse(process.argv[2]);
  setTimeout(() => fail("the story did not come to its end"), 300_000).unref();
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [...ARGS, ...(given.browser_args ?? [])],
  });
  try {
    console.log(JSON.stringify((await story(browser, given)) ?? {}));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

function fail(why) {
  console.error(why);
  process.exit(1);
}

/** A page in a context of its own. Every error of the browser fails the scenario in the end. */
export async function visit(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("console", (message) => {
    // A status that a scenario provokes is reported as an error too; the scenario checks it itself.
    const expected = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !expected) complaints.push(`console: ${message.text()}`);
  });
  page.on("response", async (response) => {
    const sent = `${response.headers().location} ${await response.text().catch(() => "")}`;
    if (/eyJ[\w-]+\.eyJ/.test(sent)) complaints.push(`a token in the browser: ${response.url()}`);
  });
  return { page, context, complaints };
}

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/**
 * Fails on every finding of axe, and on sideways scrolling, in light and dark, wide and at 320 pixels.
 * Writes screenshots into the folder `shots`, if the scenario was given one.
 */
export async function judge(page, name, given) {
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 900 });
      await judgeOnce(page, `${name} (${colorScheme}, ${width} px)`);
      const path = `${given.shots}/${name}-${colorScheme}-${width}.png`;
      if (given.shots) await page.screenshot({ path, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function judgeOnce(page, name) {
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const where = (node) => `    ${node.html}\n${node.failureSummary}`;
  const told = found.violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.map(where).join("\n")}`);
  check(told.length === 0, `axe on ${name}:\n${told.join("\n")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  check(wide <= 0, `${name} scrolls sideways by ${wide} px`);
}

export function check(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

/** The text for a screen reader, without bidi isolates. */
export async function spoken(page) {
  return (await page.locator("body").ariaSnapshot()).replace(/[\u2066-\u2069]/g, "");
}
