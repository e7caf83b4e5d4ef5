"""Calls a Kibitz service with plain JSON: python json_client.py [address]"""

import json
import os
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

service = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
key = os.environ.get("KIBITZ_API_KEY")
with_key = {"Authorization": f"Bearer {key}"} if key else {}
session = requests.Session()


class Refused(Exception):
    """The service refused a request; its problem document (RFC 9457) says why and what to do."""

    def __init__(self, problem: dict):
        super().__init__(problem["detail"])
        self.problem = problem


def main() -> None:
    print(answer_text(post("/v1/eval", {"fen": ITALIAN_GAME, "depth": 12}).json()))
    watch({"fen": ITALIAN_GAME, "depth": 16})
    print(f"review: {post('/v1/review', {'pgn': FOOLS_MATE, 'depth': 10}).json()['summary']}")
    ask_too_much()
    for fen in OPENINGS:
        print(answer_text(post("/v1/eval", {"fen": fen, "depth": 12}).json()))


def post(path: str, request: dict, headers: dict = with_key, stream: bool = False) -> requests.Response:
    """Sends a request, and retries it after the delay that the service asks for."""
    while True:
        answer = session.post(service + path, json=request, headers=headers, stream=stream, timeout=30)
        if answer.ok:
            return answer
        wait_s = int(answer.headers.get("Retry-After", LONGEST_WAIT_S + 1))
        if wait_s > LONGEST_WAIT_S:
            raise Refused(answer.json())
        print(f"{answer.json()['title'].lower()}, waiting {wait_s} s")
        time.sleep(wait_s)


def watch(request: dict) -> None:
    """Shows a complete evaluation after every depth, from server-sent events."""
    event = ""
    with post("/v1/eval/stream", request, stream=True) as answer:
        for line in answer.iter_lines():
            field, _, value = line.decode().partition(": ")
            if field == "event":
                event = value
            elif field == "data" and event == "queued":
                print(f"place {json.loads(value)['place']} in the queue")
            elif field == "data" and event == "evaluation":
                state = json.loads(value)
                final = " final" if state["search"]["stop_reason"] else ""
                print(f"depth {state['search']['depth']}: {score_text(state['score'])} {state['best_move']['san']}{final}")
            elif field == "data" and event == "error":
                raise Refused(json.loads(value))


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
        print(f"{problem['code']}, {problem['next_action']} for more; now depth {suggested['depth']}:")
        answer = post("/v1/eval", suggested, headers={})
    print(answer_text(answer.json()))


def answer_text(answer: dict) -> str:
    score = score_text(answer["score"])
    return f"best move {answer['best_move']['san']}, {score} (White's view), depth {answer['search']['depth']}"


def score_text(score: dict) -> str:
    return f"mate in {score['mate']}" if score["cp"] is None else f"{score['cp'] / 100:+.2f}"


main()
