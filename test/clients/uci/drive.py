"""Has python-chess drive `kibitz uci` as its users do, and prints what it saw as JSON."""

import json
import sys

import chess
import chess.engine


def score_of(info):
    return info["score"].relative.score(mate_score=100000)


def drive(engine):
    board = chess.Board()
    seen = {"id": engine.id["name"], "options": sorted(engine.options)}

    limits = {
        "time": chess.engine.Limit(time=0.5),
        "depth": chess.engine.Limit(depth=6),
        "nodes": chess.engine.Limit(nodes=5000),
        "clock": chess.engine.Limit(white_clock=3, black_clock=3, white_inc=0.1, black_inc=0.1),
        "moves to go": chess.engine.Limit(white_clock=1, black_clock=1, remaining_moves=5),
        "depth and time": chess.engine.Limit(depth=30, time=0.5),
    }
    seen["plays"] = {}
    for name, limit in limits.items():
        result = engine.play(board, limit, info=chess.engine.INFO_ALL)
        info = result.info
        seen["plays"][name] = {
            "legal": result.move in board.legal_moves,
            "depth": info.get("depth"),
            "nodes": info.get("nodes"),
            "complete": all(key in info for key in ("score", "pv", "nps", "time", "seldepth", "hashfull")),
        }

    lines = engine.analyse(board, chess.engine.Limit(depth=6), multipv=3)
    seen["multipv"] = [[info["multipv"], info["depth"], info["pv"][0].uci()] for info in lines]
    root_moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    lines = engine.analyse(board, chess.engine.Limit(depth=5), multipv=2, root_moves=root_moves)
    seen["root moves"] = sorted(info["pv"][0].uci() for info in lines)

    queen_up = chess.Board("4k3/8/8/8/8/8/8/QK6 w - - 0 1")
    seen["white to move"] = score_of(engine.analyse(queen_up, chess.engine.Limit(depth=8)))
    queen_up.turn = chess.BLACK
    info = engine.analyse(queen_up, chess.engine.Limit(depth=8), options={"UCI_ShowWDL": True})
    seen["black to move"] = score_of(info)
    seen["wdl"] = list(info["wdl"].relative)
    mate = engine.analyse(chess.Board("6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"), chess.engine.Limit(mate=1))
    seen["mate"] = mate["score"].relative.mate()

    engine.configure({"Skill Level": 2, "Hash": 128, "Threads": 4})
    seen["weak move is legal"] = engine.play(board, chess.engine.Limit(depth=5)).move in board.legal_moves
    engine.configure({"Skill Level": 20, "UCI_LimitStrength": True, "UCI_Elo": 1400})
    seen["limited move is legal"] = engine.play(board, chess.engine.Limit(depth=5)).move in board.legal_moves
    engine.configure({"UCI_LimitStrength": False})

    legal = []
    for _ in range(5):
        # Without end, so that neither the ping nor the best move can come because the search is over.
        with engine.analysis(board, multipv=2) as analysis:
            for info in analysis:
                if info.get("depth", 0) >= 6:
                    break
            engine.ping()
            seen["a ping ended the search"] = not analysis.would_block() and analysis.next() is None
            analysis.stop()
            legal.append(analysis.wait().move in board.legal_moves)
    seen["stopped moves are legal"] = all(legal)

    chess960 = chess.Board("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", chess960=True)
    castle = chess.Move.from_uci("e1g1")
    result = engine.play(chess960, chess.engine.Limit(depth=4), root_moves=[castle])
    seen["chess960 castling"] = [result.move.uci(), chess960.is_castling(result.move)]

    ponder = engine.play(board, chess.engine.Limit(white_clock=6, black_clock=6), ponder=True)
    seen["ponders"] = ponder.ponder is not None
    board.push(ponder.move)
    board.push(ponder.ponder)
    hit = engine.play(board, chess.engine.Limit(white_clock=6, black_clock=6), ponder=True)
    seen["ponder hit is legal"] = hit.move in board.legal_moves
    return seen


with chess.engine.SimpleEngine.popen_uci(sys.argv[1:], timeout=120) as driven:
    print(json.dumps(drive(driven)))
