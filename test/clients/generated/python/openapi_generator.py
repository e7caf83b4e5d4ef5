"""Calls Kibitz with what openapi-generator has generated for Python: openapi_generator.py <address>."""

import json
import sys

from openapi_client import AnalysisApi, AnalysisRequest, ApiClient, Configuration, EvaluateBatchRequest, GameApi, ReviewGameRequest
from openapi_client.exceptions import BadRequestException

client = ApiClient(Configuration(host=sys.argv[1]))
analysis = AnalysisApi(client)
fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
first = analysis.evaluate(AnalysisRequest(fen=fen))
try:
    analysis.evaluate(AnalysisRequest(fen="no position"))
    raise AssertionError("a text that is no position was answered")
except BadRequestException as error:
    refused = error.data
mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
requests = [AnalysisRequest(fen=fen, depth=8), AnalysisRequest(fen=mate, depth=8), AnalysisRequest(fen="no position")]
batch = analysis.evaluate_batch(EvaluateBatchRequest(requests=requests))
review = GameApi(client).review_game(ReviewGameRequest(moves=["f3", "e5", "g4", "Qh4#"], depth=8))

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
