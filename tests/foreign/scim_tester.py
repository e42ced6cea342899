"""PyPI's `scim2-tester`, as published: checks a SCIM server from its discovery documents to its deletions.

    python scim_tester.py '{"url": "http://…/scim/v2", "key": "csk_…"}'

Prints one line of JSON per check: its status, its title, its subject and its reason.
"""

import json
import random
import sys
import uuid
from types import SimpleNamespace

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server, filling

ASKED = json.loads(sys.argv[1])


class Provider(SyncSCIMClient):
    """An identity provider gives every user an externalId, which is required here (R-12)."""

    def create(self, resource, *args, **kwargs):
        if getattr(resource, "external_id", None) is None:
            resource.external_id = str(uuid.uuid4())
        return super().create(resource, *args, **kwargs)


# The first choice instead of a random one: users stay active, because an inactive one has no roles to check.
filling.random = SimpleNamespace(choice=lambda choices: choices[0], randint=random.randint)

headers = {"Authorization": f"Bearer {ASKED['key']}"}
with httpx2.Client(base_url=ASKED["url"], headers=headers) as http:
    for result in check_server(Provider(http)):
        print(json.dumps({
            "status": result.status.name,
            "title": result.title,
            "reason": result.reason,
            "data": str(result.data)[:2000],
        }), flush=True)
