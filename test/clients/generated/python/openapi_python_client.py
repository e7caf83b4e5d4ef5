"""Calls Kibitz with what openapi-python-client has generated: openapi_python_client.py <address>."""

import json
import sys

from kibitz_client import Client
from kibitz_client.api.analysis import evaluate, evaluate_batch
from kibitz_client.api.game import review_game
from kibitz_client.models import AnalysisRequest, EvaluateBatchRequest, EvaluateResult, GameReview, Problem, ReviewGameRequest

client = Client(sys.argv[1])
fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
first = evaluate.sync(client=client, body=AnalysisRequest(fen=fen))
assert isinstance(first, EvaluateResult), first
refused = evaluate.sync(client=client, body=AnalysisRequest(fen="no position"))
assert isinstance(refused, Problem), refused
mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
requests = [AnalysisRequest(fen=fen, depth=8), AnalysisRequest(fen=mate, depth=8), AnalysisRequest(fen="no position")]
batch = evaluate_batch.sync(client=client, body=EvaluateBatchRequest(requests=requests))
assert isinstance(batch, list), batch
review = review_game.sync(client=client, body=ReviewGameRequest(moves=["f3", "e5", "g4", "Qh4#"], depth=8))
assert isinstance(review, GameReview), review

print(
    json.dumps(
        {
            "first": {
                "cp": first.score.cp,
                "best": first.best_move.uci,
                "bound": first.score.bound,
                "summary": first.summary,
            },
            "refused": {
                "status": refused.status,
                "code": refused.code,
                "next_action": refused.next_action,
                "pointers": [fault.pointer for fault in refused.errors],
            },
            "batch": [
                {
                    "index": item.index,
                    "cp": item.result and item.result.score.cp,
                    "mate": item.result and item.result.score.mate,
                    "problem": item.problem and item.problem.code,
                }
                for item in batch
            ],
            "review": {"summary": review.summary, "judgements": [move.judgement for move in review.moves]},
        }
    )
)
