"""Calls a Kibitz service with a client generated from its OpenAPI document: python openapi_client.py [address]"""

import os
import sys
import time

import httpx
from kibitz_client import AuthenticatedClient, Client
from kibitz_client.api.analysis import evaluate
from kibitz_client.api.game import review_game
from kibitz_client.models import AnalysisRequest, EvaluateResult, GameReview, Problem, ReviewGameRequest

ITALIAN_GAME = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"
LONGEST_WAIT_S = 60
LOST_MAX = 5

service = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
key = os.environ.get("KIBITZ_API_KEY")
without_key = Client(service, timeout=httpx.Timeout(90))
client = AuthenticatedClient(service, token=key, timeout=httpx.Timeout(90)) if key else without_key


def main() -> None:
    request = AnalysisRequest(fen=ITALIAN_GAME, depth=12)
    print(answer_text(answered(lambda: evaluate.sync(client=client, body=request))), flush=True)
    review = answered(lambda: review_game.sync(client=client, body=ReviewGameRequest(pgn=FOOLS_MATE, depth=10)))
    assert isinstance(review, GameReview)
    print(f"review: {review.summary}", flush=True)
    exceed_plan()


def answered(call):
    """Runs the call, and retries it if the service requests a delay or if the connection breaks. Otherwise returns the answer, which
    is a Problem if the service refused the request. A retry is safe for analyses, because a search has no side effects."""
    lost = 0
    while True:
        try:
            answer = call()
        except httpx.TransportError:
            if lost == LOST_MAX:
                raise
            lost += 1
            print("connection lost, asking again", flush=True)
            time.sleep(0.1 * 2**lost)
            continue
        if not isinstance(answer, Problem) or answer.retry_after_ms is None or answer.retry_after_ms > LONGEST_WAIT_S * 1000:
            return answer
        wait_s = answer.retry_after_ms / 1000
        print(f"{answer.title.lower()}, waiting {wait_s:.0f} s", flush=True)
        time.sleep(wait_s)


def exceed_plan() -> None:
    """Requests a depth that needs an API key. After the refusal, sends the request that the service suggests."""
    request = AnalysisRequest(fen=ITALIAN_GAME, depth=30, movetime_ms=1000)
    answer = answered(lambda: evaluate.sync(client=without_key, body=request))
    if isinstance(answer, Problem) and answer.suggested_request:
        suggested = AnalysisRequest.from_dict(answer.suggested_request.to_dict())
        print(f"without a key: {answer.code}, {answer.next_action} for more; asking for depth {suggested.depth}, 1 s:", flush=True)
        answer = answered(lambda: evaluate.sync(client=without_key, body=suggested))
    print(answer_text(answer), flush=True)


def answer_text(answer: EvaluateResult | Problem | None) -> str:
    if not isinstance(answer, EvaluateResult) or answer.best_move is None:
        raise SystemExit(f"no best move: {answer}")
    score = f"mate in {answer.score.mate}" if answer.score.cp is None else f"{answer.score.cp / 100:+.2f}"
    return f"best move {answer.best_move.san}, {score} (White's view), depth {answer.search.depth}"


main()
