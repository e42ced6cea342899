// MCP's conformance suite imports `globSync`, which came with Node 22. No scenario used here calls it, but without it
// the suite cannot be loaded.
//
//   node --import ./mcp-node-20.mjs …/conformance/dist/index.js server …

import * as fs from "node:fs";
import { register } from "node:module";

const module = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

const withGlob = module(`
  export * from "node:fs";
  export { default } from "node:fs";
  export const globSync = () => { throw new Error("globSync is not here"); };
`);

if (!("globSync" in fs)) {
  register(
    module(`
      export const resolve = (name, context, next) =>
        name === "fs" && context.parentURL?.includes("/conformance/dist/")
          ? { url: ${JSON.stringify(withGlob)}, shortCircuit: true }
          : next(name, context);
    `),
  );
}
