"""Calls Kibitz with what openapi-python-client has generated: openapi_python_client.py <address> <address of a newer Kibitz>."""

import json
import sys

from kibitz_client import Client
from kibitz_client.api.analysis import evaluate, evaluate_batch
from kibitz_client.api.game import review_game
from kibitz_client.models import AnalysisRequest, EvaluateBatchRequest, EvaluateResult, GameReview, Problem, ReviewGameRequest

kibitz, newer = (Client(address) for address in sys.argv[1:])
fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
evaluation = evaluate.sync(client=kibitz, body=AnalysisRequest(fen=fen))
assert isinstance(evaluation, EvaluateResult), evaluation
problem = evaluate.sync(client=kibitz, body=AnalysisRequest(fen="FEN: " + fen))
assert isinstance(problem, Problem), problem
mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
requests = [AnalysisRequest(fen=fen, depth=8), AnalysisRequest(fen=mate, depth=8), AnalysisRequest(fen="no position")]
batch = evaluate_batch.sync(client=kibitz, body=EvaluateBatchRequest(requests=requests))
assert isinstance(batch, list), batch
game = ReviewGameRequest(moves=["f3", "e5", "g4", "Qh4#"], depth=8)
review = review_game.sync(client=kibitz, body=game)
assert isinstance(review, GameReview), review
newer_evaluation = evaluate.sync(client=newer, body=AnalysisRequest(fen=fen))
assert isinstance(newer_evaluation, EvaluateResult), newer_evaluation
newer_review = review_game.sync(client=newer, body=game)
assert isinstance(newer_review, GameReview), newer_review

print(
    json.dumps(
        {
            "answers": {
                "evaluation": evaluation.to_dict(),
                "problem": problem.to_dict(),
                "batch": [item.to_dict() for item in batch],
                "review": review.to_dict(),
                "newer_evaluation": newer_evaluation.to_dict(),
                "newer_review": newer_review.to_dict(),
            },
            "fields": {
                "cp": evaluation.score.cp,
                "mate": evaluation.score.mate,
                "best": evaluation.best_move.uci,
                "promotion": evaluation.best_move.promotion,
                "terminal": evaluation.terminal,
                "code": problem.code,
                "pointers": [fault.pointer for fault in problem.errors],
                "retry_after_ms": problem.retry_after_ms,
                "mates": [item.result and item.result.score.mate for item in batch],
                "codes": [item.problem and item.problem.code for item in batch],
                "judgements": [move.judgement for move in review.moves],
                "bound": newer_evaluation.score.bound,
                "stop_reason": newer_evaluation.search.stop_reason,
                "phases": [move.phase for move in newer_review.moves],
            },
        }
    )
)
