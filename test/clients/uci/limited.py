"""What python-chess gets of a service that answers one search and then refuses: prints JSON. Arguments: the engine's command."""

import json
import sys
import time

import chess
import chess.engine
from chess.engine import Limit

with chess.engine.SimpleEngine.popen_uci(sys.argv[1:]) as engine:
    line = engine.analyse(chess.Board(), Limit(depth=8))["pv"]
    expected = chess.Board()
    expected.push(line[0])
    expected.push(line[1])

    begun = time.monotonic()
    played = engine.play(expected, Limit(time=1)).move
    seconds = time.monotonic() - begun
    other = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    legal = engine.play(other, Limit(time=0.2)).move

    analysis = engine.analysis(other)
    time.sleep(0.5)
    analysis.stop()

    print(
        json.dumps(
            {
                "expected": line[2].uci(),
                "played": played.uci(),
                "seconds": seconds,
                "legal": legal in other.legal_moves,
                "analysed to a depth": str(engine.play(other, Limit(depth=5)).move),
                "analysed without end": str(analysis.wait().move),
                "has a score": "score" in engine.analyse(other, Limit(nodes=5000)),
            }
        )
    )
