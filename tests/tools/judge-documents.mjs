// A second judge for documents, in another language: ajv, with formats asserted.
//
// Reads { schemas: [...], cases: [{ schema: "$id", document }] } and writes one verdict a case: true if it is valid.

import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const { schemas, cases } = JSON.parse(await text(process.stdin));
const Dialect = schemas.some(({ $schema }) => $schema?.includes("draft-07")) ? Ajv : Ajv2020;
const ajv = new Dialect({ allErrors: true, allowUnionTypes: true, strictRequired: false, strictTuples: false });
addFormats(ajv, { mode: "full" });
ajv.addVocabulary(["x-mplp-meta"]); // in published schemas; it asks for nothing
for (const schema of schemas) ajv.addSchema(schema);
const verdicts = cases.map(({ schema, document }) => ajv.getSchema(schema)(document));
process.stdout.write(JSON.stringify(verdicts));

async function text(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
