"""A third judge for documents, in another language again: jsonschema from PyPI, with formats asserted.

Reads { schemas: [...], cases: [{ schema: "$id", document }] } and writes one verdict a case: true if it is valid.
"""

import json
import sys

from jsonschema import Draft7Validator, FormatChecker
from referencing import Registry, Resource

FORMATS = FormatChecker()

# A checker whose library is missing is silently none at all.
missing = {"date-time", "uuid"} - set(FORMATS.checkers)
if missing:
    sys.exit(f"no checker of the formats {missing}")

asked = json.load(sys.stdin)
registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in asked["schemas"])
validators = {}
for schema in asked["schemas"]:
    Draft7Validator.check_schema(schema)
    validators[schema["$id"]] = Draft7Validator(schema, registry=registry, format_checker=FORMATS)

json.dump([validators[case["schema"]].is_valid(case["document"]) for case in asked["cases"]], sys.stdout)
