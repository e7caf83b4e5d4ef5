"""The same requests to a service with the plans that it has by default: many are refused for what they cost.

Every few hundred calls come from another address, as a proxy forwards it, so that there is always somebody who has
not used anything up yet.
"""

import atexit
import json
import os
from collections import Counter
from pathlib import Path

import hooks
import schemathesis
from schemathesis.auths import unregister

# Without a key, where the limits are the lowest.
unregister()

hooks.LIMIT_STATUSES = (402, 429)
# Deeper is refused, and so costs nothing.
hooks.quick = lambda depth: depth if depth > 20 else 1 + depth % 6

CALLS_OF_A_CALLER = 300
# Answers that were held against the document, by status and code.
met: Counter[str] = Counter()
calls = 0


@schemathesis.hook
def before_call(context, case, kwargs):
    global calls
    calls += 1
    case.headers["X-Forwarded-For"] = f"203.0.113.{calls // CALLS_OF_A_CALLER}"


def described_headers(case, status: int) -> set[str]:
    """None of a status that is not described: that is the business of the check of statuses."""
    response = hooks.DOCUMENT["paths"][case.path][case.method.lower()]["responses"].get(str(status), {})
    if "$ref" in response:
        response = hooks.DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return set(response.get("headers", {}))


@schemathesis.check
def limits_are_told(ctx, response, case):
    """What is refused for its cost says when or how it is not, and how the caller's windows stand."""
    if response.status_code not in hooks.LIMIT_STATUSES:
        return
    problem = hooks.problem_of(response)
    assert response.headers["content-type"] == ["application/problem+json"]
    assert problem["status"] == response.status_code
    described = described_headers(case, response.status_code)
    # RateLimit is optional in the document, for those whom nothing limits: here everybody is.
    missing = [name for name in described if name.lower() not in response.headers]
    assert missing == [], f"no {missing} in {dict(response.headers)}"
    if response.status_code == 429:
        assert problem["code"] in ("rate_limited", "concurrency_limited"), problem
        assert problem["retryable"] is True
        assert problem["next_action"] == "retry_later"
        wait_ms = problem["retry_after_ms"]
        assert response.headers["retry-after"] == [str(max(1, -(-wait_ms // 1000)))], f"{response.headers}: {wait_ms}"
    else:
        assert problem["code"] == "upgrade_needed", problem
        assert problem["errors"] != [] and problem["retry_after_ms"] is None
        assert problem["suggested_request"] is not None or problem["upgrade"] is not None
    met[f"{response.status_code} {problem['code']}"] += 1


atexit.register(lambda: Path(os.environ["KIBITZ_MET"]).write_text(json.dumps(met)))
