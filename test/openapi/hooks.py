"""Teaches schemathesis about chess positions and engines.

The schema only says that `fen` is a text of 1 to 128 characters. These hooks replace valid values by positions of the
corpus, for which the expected response is known. Values that break the schema are not changed.
"""

import hashlib
import json
import os
from pathlib import Path

import jsonschema_rs
import requests
import schemathesis

CORPUS = [json.loads(line) for line in (Path(__file__).parent.parent / "corpus" / "fens.jsonl").open()]
# Positions that are longer than the schema allows are left out.
SHORT = [entry for entry in CORPUS if 1 <= len(entry["fen"]) <= 128]
ANSWERED = [entry["fen"] for entry in SHORT if entry["expect"]["status"] == [200]]
REFUSED = [entry["fen"] for entry in SHORT if entry["expect"]["status"] == [400]]

ANALYSES = ("/v1/eval", "/v1/eval/stream", "/v1/bestmove")
BATCH = "/v1/eval/batch"
REVIEW = "/v1/review"
TABLEBASE = "/v1/tablebase"
# Positions that the tables of the service know, or that need no table.
LOOKED_UP = ["8/8/8/8/8/2k5/8/K6Q w - - 0 1", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", "8/8/8/8/8/1k6/8/K7 w - - 0 1"]
GAMES = [
    {"pgn": "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#"},
    {"pgn": '[White "A"]\n\n1. d4 {a comment} (1. c4) d5 *'},
    {"moves": ["e4", "c7c5"]},
    {"fen": "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", "moves": ["Re8#"]},
]

# Error codes that depend on the rules of chess or on the installed engines, which a schema cannot describe.
BEYOND_SCHEMAS = {
    "invalid_fen",
    "illegal_position",
    "illegal_move",
    "invalid_pgn",
    "invalid_option",
    "option_not_allowed",
    "unknown_engine",
    "path_unavailable",
}

OPTIONS = [{}, {"skill_level": 3}, {"uci_limit_strength": True, "uci_elo": 1500}, {"uci_chess960": False}]

# The statuses of refusals by a limit. `limited.py` sets them; without limits the list is empty.
LIMIT_STATUSES: tuple[int, ...] = ()

# The expected outcome of each request of a case, by case id: "answered", "refused" or "unknown".
verdicts: dict[str, list[str]] = {}


DOCUMENT = requests.get(f"{os.environ['KIBITZ_URL']}/openapi.json", timeout=120).json()
ITEM = jsonschema_rs.validator_for(
    {"$ref": "#/components/schemas/AnalysisRequest", "components": DOCUMENT["components"]}
)

# The bodies of the calls, as the document describes them.
BODIES = {
    path: jsonschema_rs.validator_for(
        {**verbs["post"]["requestBody"]["content"]["application/json"]["schema"], "components": DOCUMENT["components"]}
    )
    for path, verbs in DOCUMENT["paths"].items()
    if "post" in verbs
}

# Other media types that a call can return if the client accepts them.
OTHER_TYPES = {"/v1/eval": "text/event-stream", BATCH: "application/x-ndjson", REVIEW: "application/x-ndjson"}


def is_integer(value) -> bool:
    """In JSON Schema, 14.0 is an integer."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0


def is_in_range(movetime_ms) -> bool:
    return is_integer(movetime_ms) and 50 <= movetime_ms <= 60000


def without_null_paths(body):
    """Removes `"path": null`, which the service accepts as absent. The schema forbids it, because of client generators."""
    if isinstance(body, list):
        return [without_null_paths(item) for item in body]
    if isinstance(body, dict):
        requests = {"requests": without_null_paths(body["requests"])} if "requests" in body else {}
        return {key: value for key, value in body.items() if key != "path" or value is not None} | requests
    return body


def draw(request: dict) -> int:
    """Returns a number that depends only on the request, so that a run can be repeated."""
    text = json.dumps(request, sort_keys=True, default=str)
    return int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:4])


def quick(depth: int) -> int:
    """Returns a small depth, because a search of 30 plies takes minutes."""
    return 1 + depth % 6


def make_sense(request) -> str:
    """Replaces valid values of the request, in place, and returns the expected outcome."""
    if not isinstance(request, dict):
        return "unknown"
    number = draw(request)
    depth = request.get("depth", 14)
    if is_integer(depth) and 1 <= depth <= 30:
        request["depth"] = quick(depth)
    elif depth is None and (request.get("movetime_ms") is None or is_in_range(request["movetime_ms"])):
        request["movetime_ms"] = 50
    fen = request.get("fen")
    if not isinstance(fen, str) or not 1 <= len(fen) <= 128:
        return "unknown"
    if number % 8 == 0:
        # Every eighth request is sent as it was generated.
        return "unknown"
    refuse = number % 8 == 1
    fens = REFUSED if refuse else ANSWERED
    request["fen"] = fens[number // 8 % len(fens)]
    for field, most in (("moves", 600), ("search_moves", 218)):
        moves = request.get(field)
        if isinstance(moves, list) and len(moves) <= most and all(isinstance(move, str) and 1 <= len(move) <= 16 for move in moves):
            request[field] = []
    if isinstance(request.get("options"), dict):
        request["options"] = OPTIONS[number // 64 % len(OPTIONS)]
    if isinstance(request.get("engine"), str) and len(request["engine"]) <= 64:
        request["engine"] = ("latest", "stockfish-19-lite")[number // 512 % 2]
    if request.get("path") == "native":
        request["path"] = "wasm"
    return "refused" if refuse else "answered"


def is_text(value, least: int, most: int) -> bool:
    return value is None or (isinstance(value, str) and least <= len(value) <= most)


def make_sense_of_review(request) -> str:
    """Replaces the game of a review by a valid game, in place, and returns the expected outcome."""
    if not isinstance(request, dict):
        return "unknown"
    number = draw(request)
    depth, nodes, moves = request.get("depth"), request.get("nodes"), request.get("moves")
    if is_integer(depth) and 1 <= depth <= 30:
        request["depth"] = quick(depth)
    elif depth is None and nodes is None:
        # The default depth takes seconds for a game.
        request["depth"] = 1 + number % 6
    if is_integer(nodes) and 1 <= nodes <= 1_000_000_000:
        request["nodes"] = 1 + nodes % 1000
    fits_moves = moves is None or (isinstance(moves, list) and len(moves) <= 600 and all(isinstance(move, str) and 1 <= len(move) <= 16 for move in moves))
    if number % 8 == 0 or not (fits_moves and is_text(request.get("pgn"), 0, 262_144) and is_text(request.get("fen"), 1, 128)):
        return "unknown"
    for field in ("pgn", "fen", "moves"):
        request.pop(field, None)
    request.update(GAMES[number // 8 % len(GAMES)])
    if isinstance(request.get("engine"), str) and len(request["engine"]) <= 64:
        request["engine"] = ("latest", "stockfish-19-lite")[number // 64 % 2]
    if request.get("path") == "native":
        request["path"] = "wasm"
    return "answered"


def make_sense_of_look_up(query) -> str:
    """Replaces the position of a look-up in the endgame tables, in place, and returns the expected outcome."""
    fen = query.get("fen") if isinstance(query, dict) else None
    if not isinstance(fen, str) or not 1 <= len(fen) <= 128:
        return "unknown"
    number = draw(query)
    if number % 8 == 0:
        return "unknown"
    refuse = number % 8 == 1
    fens = REFUSED if refuse else LOOKED_UP
    query["fen"] = fens[number // 8 % len(fens)]
    return "refused" if refuse else "answered"


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path == TABLEBASE:
        verdicts[case.id] = [make_sense_of_look_up(case.query)]
    if case.path == REVIEW:
        verdicts[case.id] = [make_sense_of_review(case.body)]
    if case.path in ANALYSES:
        verdicts[case.id] = [make_sense(case.body)]
    elif case.path == BATCH and isinstance(case.body, dict) and isinstance(case.body.get("requests"), list):
        verdicts[case.id] = [make_sense(request) for request in case.body["requests"]]
    if case.path in OTHER_TYPES and "Accept" not in case.headers and draw({"body": case.body}) % 3 == 0:
        case.headers["Accept"] = OTHER_TYPES[case.path]


def problem_of(response):
    try:
        return json.loads(response.content)
    except ValueError:
        return {}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    name = type(failure).__name__
    if name == "RejectedPositiveData" and problem_of(response).get("code") == "not_in_tablebase":
        return "answered" in verdicts.get(case.id, [])
    if name == "RejectedPositiveData" and response.status_code == 400:
        # A refusal is allowed if the schema cannot describe its reason and the corpus does not promise an answer.
        known = verdicts.get(case.id, [])
        problem = problem_of(response)
        if case.path == REVIEW and {fault["pointer"] for fault in problem.get("errors", [])} <= {"/pgn", "/moves"}:
            # The schema cannot say that a request has exactly one game.
            return "answered" in known
        return "answered" in known or not known or problem.get("code") not in BEYOND_SCHEMAS
    if name == "AcceptedNegativeData" and case.path in BODIES and isinstance(case.body, dict):
        is_valid = BODIES[case.path].is_valid
        if not is_valid(case.body) and is_valid(without_null_paths(case.body)):
            return False
    if name == "AcceptedNegativeData" and case.path == BATCH and response.status_code == 200:
        # An invalid request of a batch gets its own problem. `every_item_is_answered` checks this.
        items = case.body.get("requests") if isinstance(case.body, dict) and set(case.body) == {"requests"} else None
        in_items = isinstance(items, list) and 1 <= len(items) <= 200 and not all(map(ITEM.is_valid, without_null_paths(items)))
        return not in_items
    return True


@schemathesis.check
def credential_comes_first(ctx, response, case):
    """A request with an invalid key gets 401, even if its body is invalid, too."""
    if response.status_code not in (200, 400, *LIMIT_STATUSES) or draw({"path": case.path, "body": case.body}) % 4 != 0:
        return
    sent = response.request
    headers = {**sent.headers, "Authorization": f"Bearer kbz_{'0' * 36}"}
    answer = requests.request(sent.method, sent.url, data=sent.body, headers=headers, timeout=120)
    assert answer.status_code == 401, f"answered an invalid key with {answer.status_code}: {case.body}"
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@schemathesis.check
def corpus_is_right(ctx, response, case):
    """The service answers or refuses a position as the corpus says."""
    meta = case.meta
    if case.path not in (*ANALYSES, TABLEBASE) or meta is None or not meta.generation.mode.is_positive:
        return
    verdict = verdicts.get(case.id, ["unknown"])[0]
    if response.status_code in LIMIT_STATUSES:
        return
    if verdict == "answered":
        assert response.status_code == 200, f"answered with {response.status_code}, not 200: {case.body or case.query}"
    elif verdict == "refused":
        assert response.status_code == 400, f"answered with {response.status_code}, not 400: {case.body or case.query}"
        assert problem_of(response)["code"] in ("invalid_fen", "illegal_position"), problem_of(response)


@schemathesis.check
def every_item_is_answered(ctx, response, case):
    """A batch has an answer for the index of each request, and answers known positions as the corpus says."""
    if case.path != BATCH or response.status_code != 200:
        return
    if "ndjson" in response.headers["content-type"][0]:
        answers = sorted((json.loads(line) for line in response.content.splitlines()), key=lambda item: item["index"])
    else:
        answers = json.loads(response.content)
    items = case.body["requests"]
    assert [answer["index"] for answer in answers] == list(range(len(items)))
    for item, answer, verdict in zip(items, answers, verdicts[case.id], strict=True):
        if answer["problem"] is not None and answer["problem"]["status"] in LIMIT_STATUSES:
            continue
        if verdict == "refused" or not ITEM.is_valid(without_null_paths(item)):
            assert answer["problem"] is not None, f"answered: {item}"
        elif verdict == "answered":
            assert answer["result"] is not None, f"not answered: {item}: {answer}"


class OwnKey:
    """An API key of the service. Each request that revokes its key gets a new one."""

    def __init__(self):
        self.key = None

    def issue(self):
        return requests.post(f"{os.environ['KIBITZ_URL']}/v1/keys", json={}, timeout=120).json()["key"]

    def get(self, case, context):
        if case.method == "DELETE":
            return self.issue()
        self.key = self.key or self.issue()
        return self.key

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"


# Without a refresh interval, the key is read for every case, so a revoked key is not sent again.
schemathesis.auth(refresh_interval=None)(OwnKey)
