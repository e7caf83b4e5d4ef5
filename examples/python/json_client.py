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
PAWN_ENDING = "8/1P6/8/3k4/8/8/8/K7 w - - 0 1"
FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"
LONGEST_WAIT_S = 60
LOST_MAX = 5

service = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
key = os.environ.get("KIBITZ_API_KEY")
with_key = {"Authorization": f"Bearer {key}"} if key else {}
session = requests.Session()


class Refused(Exception):
    """The service refused a request. `problem` is the problem document (RFC 9457), which gives the reason and the next action."""

    def __init__(self, problem: dict):
        super().__init__(problem["detail"])
        self.problem = problem


class Lost(Exception):
    """The error response came from a proxy, not from Kibitz, because the server process ended."""


def main() -> None:
    print(answer_text(post("/v1/eval", {"fen": ITALIAN_GAME, "depth": 12})), flush=True)
    watch({"fen": ITALIAN_GAME, "depth": 16})
    print(f"review: {post('/v1/review', {'pgn': FOOLS_MATE, 'depth': 10})['summary']}")
    exceed_plan()
    for fen in [PAWN_ENDING, ITALIAN_GAME]:
        look_up(fen)
    for fen in OPENINGS:
        print(answer_text(post("/v1/eval", {"fen": fen, "depth": 12})))


def post(path: str, request: dict, headers: dict = with_key) -> dict:
    return with_retry(lambda: send(path, request, headers).json())


def send(path: str, request: dict, headers: dict = with_key, stream: bool = False) -> requests.Response:
    return checked(session.post(service + path, json=request, headers=headers, stream=stream, timeout=30))


def checked(answer: requests.Response) -> requests.Response:
    if answer.ok:
        return answer
    if answer.headers.get("Content-Type") != "application/problem+json":
        raise Lost(f"status {answer.status_code}")
    raise Refused(answer.json())


def with_retry(call):
    """Runs the call, and retries it if the service requests a delay or if the connection breaks.

    A retry is safe for analyses, because a search has no side effects. Use this for POST /v1/keys only with an
    idempotency_key, because a retry could otherwise create two keys.
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
            # Wait for a random time, so that clients do not retry all at once. The maximum wait doubles with each retry.
            wait_s = 0.1 * 2**lost * random.random()
        time.sleep(wait_s)


def watch(request: dict) -> None:
    """Reads server-sent events and prints each depth once. After a retry, the stream repeats the depths from the beginning."""
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


def exceed_plan() -> None:
    """Requests a depth that needs an API key. After the refusal, sends the request that the service suggests."""
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


def look_up(fen: str) -> None:
    """Prints what the endgame tables of the service know of a position. If no table knows the position, evaluates it."""

    def probe() -> dict:
        return checked(session.get(service + "/v1/tablebase", params={"fen": fen}, headers=with_key, timeout=30)).json()

    try:
        answer = with_retry(probe)
        print(f"tablebase: {answer['tablebase']['category']}, best move {answer['moves'][0]['san']}", flush=True)
    except Refused as refused:
        if refused.problem["code"] != "not_in_tablebase":
            raise
        print(f"{refused.problem['code']}: {refused.problem['next_action']}", flush=True)
        print(answer_text(post("/v1/eval", {"fen": fen, "depth": 12})), flush=True)


def answer_text(answer: dict) -> str:
    score = score_text(answer["score"])
    return f"best move {answer['best_move']['san']}, {score} (White's view), depth {answer['search']['depth']}"


def score_text(score: dict) -> str:
    return f"mate in {score['mate']}" if score["cp"] is None else f"{score['cp'] / 100:+.2f}"


main()
