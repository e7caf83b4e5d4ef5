"""Calls a Kibitz service with plain JSON: python json_client.py [address]"""

import json
import os
import random
import sys
import time

import requests

ITALIAN_GAME = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
OPENINGS = [
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2",
]
FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"
LONGEST_WAIT_S = 60
LOST_MAX = 5

service = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
key = os.environ.get("KIBITZ_API_KEY")
with_key = {"Authorization": f"Bearer {key}"} if key else {}
session = requests.Session()


class Refused(Exception):
    """The service refused a request; its problem document (RFC 9457) says why and what to do."""

    def __init__(self, problem: dict):
        super().__init__(problem["detail"])
        self.problem = problem


class Lost(Exception):
    """It was not the service that answered, but what stands in front of it: the node that had the call is gone."""


def main() -> None:
    print(answer_text(post("/v1/eval", {"fen": ITALIAN_GAME, "depth": 12})), flush=True)
    watch({"fen": ITALIAN_GAME, "depth": 16})
    print(f"review: {post('/v1/review', {'pgn': FOOLS_MATE, 'depth': 10})['summary']}")
    ask_too_much()
    for fen in OPENINGS:
        print(answer_text(post("/v1/eval", {"fen": fen, "depth": 12})))


def post(path: str, request: dict, headers: dict = with_key) -> dict:
    return with_retry(lambda: send(path, request, headers).json())


def send(path: str, request: dict, headers: dict = with_key, stream: bool = False) -> requests.Response:
    answer = session.post(service + path, json=request, headers=headers, stream=stream, timeout=30)
    if answer.ok:
        return answer
    if answer.headers.get("Content-Type") != "application/problem+json":
        raise Lost(f"status {answer.status_code}")
    raise Refused(answer.json())


def with_retry(call):
    """Makes a call, and makes it again after the delay that the service asks for, or soon, where its answer was lost.

    Searches have no side effects, and by depth the same search gives the same answer on every node. Not for POST /v1/keys.
    """
    lost = 0
    while True:
        try:
            return call()
        except Refused as refused:
            wait_ms = refused.problem["retry_after_ms"]
            if wait_ms is None or wait_ms > LONGEST_WAIT_S * 1000:
                raise
            wait_s = wait_ms / 1000
            print(f"{refused.problem['title'].lower()}, waiting {wait_s:.0f} s", flush=True)
        except (Lost, requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            if lost == LOST_MAX:
                raise
            lost += 1
            print("connection lost, asking again", flush=True)
            # Not all callers of a node at once, and each time less often.
            wait_s = 0.1 * 2**lost * random.random()
        time.sleep(wait_s)


def watch(request: dict) -> None:
    """Shows a complete evaluation after every depth, from server-sent events; each once: a stream that was lost begins anew."""
    deepest = 0

    def follow() -> None:
        nonlocal deepest
        event = ""
        with send("/v1/eval/stream", request, stream=True) as answer:
            for line in answer.iter_lines():
                field, _, value = line.decode().partition(": ")
                if field == "event":
                    event = value
                elif field == "data" and event == "queued":
                    print(f"place {json.loads(value)['place']} in the queue", flush=True)
                elif field == "data" and event == "evaluation":
                    state = json.loads(value)
                    depth = state["search"]["depth"]
                    if depth > deepest:
                        deepest = depth
                        final = " final" if state["search"]["stop_reason"] else ""
                        print(f"depth {depth}: {score_text(state['score'])} {state['best_move']['san']}{final}", flush=True)
                elif field == "data" and event == "error":
                    raise Refused(json.loads(value))

    with_retry(follow)


def ask_too_much() -> None:
    """Asks for more than callers without a key are allowed, then for what the service suggests."""
    request = {"fen": ITALIAN_GAME, "depth": 30, "movetime_ms": 1000}
    try:
        answer = post("/v1/eval", request, headers={})
    except Refused as refused:
        problem = refused.problem
        if problem["suggested_request"] is None:
            raise
        suggested = problem["suggested_request"]
        print(f"without a key: {problem['code']}, {problem['next_action']} for more; asking for depth {suggested['depth']}, 1 s:")
        answer = post("/v1/eval", suggested, headers={})
    print(answer_text(answer))


def answer_text(answer: dict) -> str:
    score = score_text(answer["score"])
    return f"best move {answer['best_move']['san']}, {score} (White's view), depth {answer['search']['depth']}"


def score_text(score: dict) -> str:
    return f"mate in {score['mate']}" if score["cp"] is None else f"{score['cp'] / 100:+.2f}"


main()
