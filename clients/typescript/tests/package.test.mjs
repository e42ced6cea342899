// The package as users get it: packed, unpacked elsewhere, and the README's first lines run with it.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Stage, inBackground, run, temporary } from "./support.mjs";

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));

test("the README's first lines run from the packed package", async () => {
  const stage = await Stage.set();
  const folder = await temporary();
  const home = join(folder, "node_modules/countersign-sdk");
  await mkdir(home, { recursive: true });
  const packed = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], { cwd: PACKAGE });
  const [{ filename, files }] = JSON.parse(packed.stdout);
  await run("tar", ["-xzf", join(folder, filename), "-C", home, "--strip-components=1"]);
  const names = files.map(({ path }) => path);
  assert(names.includes("dist/index.d.ts") && names.includes("dist/node.js"), names.join());
  assert(!names.some((name) => name.startsWith("tests/") || name.startsWith("src/")), names.join());
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  await writeFile(join(folder, "start.mjs"), readme.split("```js\n")[1].split("```")[0]);
  const environment = { COUNTERSIGN_SERVICE: stage.origin, COUNTERSIGN_API_KEY: stage.key };
  const running = inBackground(() => run(process.execPath, ["start.mjs"], { cwd: folder, env: environment }));
  await stage.answers(await stage.asked(), "approve");
  assert.equal((await running).stdout, "sent to acme\n");
});
