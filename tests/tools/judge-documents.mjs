// A second judge for documents, in another language: ajv, with formats asserted.
//
// Reads a question a line, { schemas: [...], cases: [{ schema: "$id", document }] }, and answers each with a line of
// one verdict a case: true if it is valid. A question without schemas uses those of the previous one.
// Ends with its input.

import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

let ajv;
for await (const line of lines(process.stdin)) {
  const { schemas, cases } = JSON.parse(line);
  if (schemas) ajv = judgeBy(schemas);
  const verdicts = cases.map(({ schema, document }) => ajv.getSchema(schema)(document));
  process.stdout.write(JSON.stringify(verdicts) + "\n");
}

function judgeBy(schemas) {
  const Dialect = schemas.some(({ $schema }) => $schema?.includes("draft-07")) ? Ajv : Ajv2020;
  const ajv = new Dialect({ allErrors: true, allowUnionTypes: true, strictRequired: false, strictTuples: false });
  addFormats(ajv, { mode: "full" });
  ajv.addVocabulary(["x-mplp-meta"]); // in published schemas; it asks for nothing
  for (const schema of schemas) ajv.addSchema(schema);
  return ajv;
}

// Not node:readline, which also splits at U+2028: documents may contain it.
async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream.setEncoding("utf8")) {
    const [end, ...starts] = chunk.split("\n");
    parts.push(end);
    for (const start of starts) {
      yield parts.join("");
      parts = [start];
    }
  }
  const last = parts.join("");
  if (last) yield last;
}
