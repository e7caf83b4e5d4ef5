"""Calls a Kibitz service over gRPC: python grpc_client.py [address]"""

import os
import random
import sys
import time
from urllib.parse import urlsplit

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from grpc_status import rpc_status

from kibitz.chess.analysis.v1.analysis_pb2 import AnalysisRequest, Score, TablebaseCategory
from kibitz.chess.analysis.v1.analysis_service_pb2 import EvaluateResponse, ProbeTablebaseRequest
from kibitz.chess.analysis.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from kibitz.chess.analysis.v1.game_service_pb2 import ReviewGameRequest
from kibitz.chess.analysis.v1.game_service_pb2_grpc import GameServiceStub
from kibitz.chess.analysis.v1.problem_pb2 import Problem

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

key = os.environ.get("KIBITZ_API_KEY")
with_key = [("authorization", f"Bearer {key}")] if key else []


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
    with grpc.insecure_channel(urlsplit(address).netloc) as channel:
        service = AnalysisServiceStub(channel)
        games = GameServiceStub(channel)

        def evaluate(**request) -> EvaluateResponse:
            return with_retry(lambda: service.Evaluate(AnalysisRequest(**request), metadata=with_key, timeout=30))

        def watch(**request) -> None:
            """Prints each depth once. After a retry, the stream repeats the depths from the beginning."""
            deepest = 0

            def follow() -> None:
                nonlocal deepest
                for event in service.StreamEvaluate(AnalysisRequest(**request), metadata=with_key, timeout=30):
                    state = event.evaluation
                    if event.HasField("queued"):
                        print(f"place {event.queued.place} in the queue", flush=True)
                    elif event.HasField("evaluation") and state.search.depth > deepest:
                        deepest = state.search.depth
                        final = " final" if state.search.HasField("stop_reason") else ""
                        print(f"depth {deepest}: {score_text(state.score)} {state.best_move.san}{final}", flush=True)

            with_retry(follow)

        def review(pgn: str) -> None:
            for event in games.ReviewGame(ReviewGameRequest(pgn=pgn, depth=10), metadata=with_key, timeout=30):
                if event.HasField("review"):
                    print(f"review: {event.review.summary}")

        def look_up(fen: str) -> None:
            """Prints what the endgame tables of the service know of a position. If no table knows the position, evaluates it."""
            request = ProbeTablebaseRequest(fen=fen)
            try:
                answer = with_retry(lambda: service.ProbeTablebase(request, metadata=with_key, timeout=30))
                category = TablebaseCategory.Name(answer.tablebase.category).removeprefix("TABLEBASE_CATEGORY_").lower()
                print(f"tablebase: {category}, best move {answer.moves[0].san}", flush=True)
            except grpc.RpcError as error:
                problem = detail_of(error, Problem)
                if problem is None or problem.code != "not_in_tablebase":
                    raise
                print(f"{problem.code}: {problem.next_action}", flush=True)
                print(answer_text(evaluate(fen=fen, depth=12)), flush=True)

        print(answer_text(evaluate(fen=ITALIAN_GAME, depth=12)), flush=True)
        watch(fen=ITALIAN_GAME, depth=16)
        with_retry(lambda: review(FOOLS_MATE))
        exceed_plan(service)
        for fen in [PAWN_ENDING, ITALIAN_GAME]:
            look_up(fen)
        for fen in OPENINGS:
            print(answer_text(evaluate(fen=fen, depth=12)))


def with_retry(call):
    """Runs the call, and retries it if the service requests a delay or if the connection breaks.

    A retry is safe for analyses, because a search has no side effects. Use this for CreateKey only with an
    idempotency_key, because a retry could otherwise create two keys.
    """
    lost = 0
    while True:
        try:
            return call()
        except grpc.RpcError as error:
            retry = detail_of(error, RetryInfo)
            if retry is not None and retry.retry_delay.seconds <= LONGEST_WAIT_S:
                wait_s = retry.retry_delay.ToTimedelta().total_seconds()
                print(f"rate limited, waiting {wait_s:.0f} s", flush=True)
            elif is_lost(error) and lost < LOST_MAX:
                lost += 1
                print("connection lost, asking again", flush=True)
                # Wait for a random time, so that clients do not retry all at once. The maximum wait doubles with each retry.
                wait_s = 0.1 * 2**lost * random.random()
            else:
                raise
            time.sleep(wait_s)


def is_lost(error: grpc.RpcError) -> bool:
    """Returns true if the connection broke or the server process ended.

    Errors of the service contain a Problem. DEADLINE_EXCEEDED is an error of the client, and a retry would not help.
    """
    return detail_of(error, Problem) is None and error.code() != grpc.StatusCode.DEADLINE_EXCEEDED


def exceed_plan(service: AnalysisServiceStub) -> None:
    """Requests a depth that needs an API key. After the refusal, requests the maximum depth without a key."""
    request = AnalysisRequest(fen=ITALIAN_GAME, depth=30, movetime_ms=1000)
    try:
        answer = service.Evaluate(request, timeout=30)
    except grpc.RpcError as error:
        problem = detail_of(error, Problem)
        if problem is None or problem.code != "upgrade_needed":
            raise
        request.depth = int(problem.errors[0].allowed["maximum"])
        print(f"without a key: {problem.code}, {problem.next_action} for more; asking for depth {request.depth}, 1 s:")
        answer = with_retry(lambda: service.Evaluate(request, timeout=30))
    print(answer_text(answer))


def detail_of(error: grpc.RpcError, kind):
    """Returns the error detail of the given type, or None."""
    status = rpc_status.from_call(error)
    for packed in status.details if status else ():
        detail = kind()
        if packed.Unpack(detail):
            return detail
    return None


def answer_text(answer: EvaluateResponse) -> str:
    return f"best move {answer.best_move.san}, {score_text(answer.score)} (White's view), depth {answer.search.depth}"


def score_text(score: Score) -> str:
    return f"{score.cp / 100:+.2f}" if score.HasField("cp") else f"mate in {score.mate}"


main()
