"""What python-chess gets of a service that answers one search and then refuses: prints JSON. Arguments: the engine's command."""

import json
import sys
import time

import chess
import chess.engine
from chess.engine import Limit

with chess.engine.SimpleEngine.popen_uci(sys.argv[1:]) as engine:
    engine.analyse(chess.Board(), Limit(depth=8))

    other = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    begun = time.monotonic()
    legal = engine.play(other, Limit(time=1)).move
    seconds = time.monotonic() - begun

    analysis = engine.analysis(other)
    time.sleep(0.5)
    analysis.stop()

    print(
        json.dumps(
            {
                "seconds": seconds,
                "legal": legal in other.legal_moves,
                "analysed to a depth": str(engine.play(other, Limit(depth=5)).move),
                "analysed without end": str(analysis.wait().move),
                "has a score": "score" in engine.analyse(other, Limit(nodes=5000)),
            }
        )
    )
