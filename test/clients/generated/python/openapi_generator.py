"""Calls Kibitz with what openapi-generator has generated for Python: openapi_generator.py <address> <address of a newer Kibitz>."""

import json
import sys

from openapi_client import AnalysisApi, AnalysisRequest, ApiClient, Configuration, EvaluateBatchRequest, GameApi, ReviewGameRequest
from openapi_client.exceptions import BadRequestException

kibitz, newer = (ApiClient(Configuration(host=address)) for address in sys.argv[1:])
analysis = AnalysisApi(kibitz)
fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
evaluation = analysis.evaluate(AnalysisRequest(fen=fen))
try:
    analysis.evaluate(AnalysisRequest(fen="FEN: " + fen))
    raise AssertionError("a text around a FEN was answered")
except BadRequestException as error:
    problem = error.data
mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
requests = [AnalysisRequest(fen=fen, depth=8), AnalysisRequest(fen=mate, depth=8), AnalysisRequest(fen="no position")]
batch = analysis.evaluate_batch(EvaluateBatchRequest(requests=requests))
game = ReviewGameRequest(moves=["f3", "e5", "g4", "Qh4#"], depth=8)
review = GameApi(kibitz).review_game(game)
newer_evaluation = AnalysisApi(newer).evaluate(AnalysisRequest(fen=fen))
newer_review = GameApi(newer).review_game(game)

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
