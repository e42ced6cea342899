// A second judge for the OpenAPI description: @seriousme/openapi-schema-validator, by the published schema of OpenAPI 3.1.
//
// Reads the document from its input, and answers with a line: { valid, version, errors }.

import { Validator } from "@seriousme/openapi-schema-validator";
import { text } from "node:stream/consumers";

const validator = new Validator();
const { valid, errors } = await validator.validate(JSON.parse(await text(process.stdin)));
console.log(JSON.stringify({ valid, version: validator.version, errors: errors ?? [] }));
