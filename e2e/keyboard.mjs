// A person with a keyboard and no mouse.

import { check } from "./browser.mjs";

/** Tabs forward until the focused element has this name, and checks that the focus is visible. */
export async function tabTo(page, name) {
  const passed = [];
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press("Tab");
    const here = await focused(page);
    if (here.name === name) {
      check(here.visible, `nothing shows that “${name}” has the focus`);
      return here;
    }
    passed.push(here.name);
  }
  throw new Error(`no way by Tab to “${name}”; passed ${JSON.stringify(passed)}`);
}

/** Tabs to a link or button and presses Enter; waits for the page that follows. */
export async function enter(page, name) {
  await tabTo(page, name);
  await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
  await page.waitForLoadState();
}

/** Tabs to a field and types into it. */
export async function fill(page, name, text) {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

/** Waits until the element of this id has the focus: a browser grants `autofocus` when it draws, after the load. */
export async function hasFocus(page, id, otherwise) {
  let here;
  for (let n = 0; n < 100; n += 1) {
    here = await focused(page);
    if (here.id === id) return;
    await page.waitForTimeout(50);
  }
  check(false, `${otherwise}, but ${JSON.stringify(here)}`);
}

/** The name of the focused element, from its label, its aria-label or its own text. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    const label = element.labels?.[0]?.textContent ?? element.getAttribute("aria-label") ?? element.textContent;
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return {
      id: element.id,
      name: label.replace(/[\u2066-\u2069]/g, "").replace(/\s+/g, " ").trim(),
      visible: outlined || style.boxShadow !== "none",
    };
  });
}
