"""A third judge for documents, in another language again: jsonschema from PyPI, with formats asserted.

Reads a question a line, { schemas: [...], cases: [{ schema: "$id", document }] }, and answers each with a line of one
verdict a case: true if it is valid. A question without schemas uses those of the previous one.
Ends with its input.
"""

import json
import sys

from jsonschema import Draft7Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

FORMATS = FormatChecker()

# A format checker without its library silently accepts everything.
missing = {"date-time", "uuid"} - set(FORMATS.checkers)
if missing:
    sys.exit(f"no checker of the formats {missing}")


def judges_by(schemas):
    # The schemas of MCP's tools name no dialect.
    resources = ((schema["$id"], Resource.from_contents(schema, default_specification=DRAFT7)) for schema in schemas)
    registry = Registry().with_resources(resources)
    for schema in schemas:
        Draft7Validator.check_schema(schema)
    return {s["$id"]: Draft7Validator(s, registry=registry, format_checker=FORMATS) for s in schemas}


judges = {}
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if "schemas" in asked:
        judges = judges_by(asked["schemas"])
    verdicts = [judges[case["schema"]].is_valid(case["document"]) for case in asked["cases"]]
    print(json.dumps(verdicts), flush=True)
