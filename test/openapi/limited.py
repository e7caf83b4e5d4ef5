"""Sends the same requests to a service with the built-in plans, whose limits refuse many of them.

After every few hundred calls, the address in X-Forwarded-For changes, so there are always callers with unused limits.
"""

import atexit
import json
import os
from collections import Counter
from pathlib import Path

import hooks
import schemathesis
from schemathesis.auths import unregister

# Requests are sent without a key, because the limits of keyless callers are the lowest.
unregister()

hooks.LIMIT_STATUSES = (402, 429)
# A depth over 20 is refused, so its search does not run.
hooks.quick = lambda depth: depth if depth > 20 else 1 + depth % 6

CALLS_OF_A_CALLER = 300
# The number of checked refusals, by status and code.
met: Counter[str] = Counter()
calls = 0


@schemathesis.hook
def before_call(context, case, kwargs):
    global calls
    calls += 1
    case.headers["X-Forwarded-For"] = f"203.0.113.{calls // CALLS_OF_A_CALLER}"


def described_headers(case, status: int) -> set[str]:
    """Returns the documented headers of a status. Another check reports undocumented statuses."""
    response = hooks.DOCUMENT["paths"][case.path][case.method.lower()]["responses"].get(str(status), {})
    if "$ref" in response:
        response = hooks.DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return set(response.get("headers", {}))


@schemathesis.check
def limits_are_reported(ctx, response, case):
    """A refusal by a limit says when to retry or how to change the request, and has the documented headers."""
    if response.status_code not in hooks.LIMIT_STATUSES:
        return
    problem = hooks.problem_of(response)
    assert response.headers["content-type"] == ["application/problem+json"]
    assert problem["status"] == response.status_code
    described = described_headers(case, response.status_code)
    # RateLimit is optional in the document, but every caller has limits here.
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
