"""A match between engines over UCI, with clocks that end games. Prints how it went as JSON.

match.py <games> <base seconds> <increment seconds> <JSON: two commands, each a list>
"""

import json
import sys
import time

import chess
import chess.engine

openings = ["e2e4 e7e5", "d2d4 d7d5", "c2c4 g8f6", "g1f3 c7c5", "e2e4 c7c6", "d2d4 g8f6", "e2e4 e7e6", "b2b3 e7e5"]
longest = 160


def play(white, black, opening, base, increment):
    """How a game ended: the termination, or the side that forfeited it and why."""
    board = chess.Board()
    for move in opening.split():
        board.push_uci(move)
    clocks = {chess.WHITE: base, chess.BLACK: base}
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < longest:
        mover = board.turn
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=increment,
            black_inc=increment,
        )
        begin = time.monotonic()
        try:
            move = (white if mover else black).play(board, limit, game=game).move
        except chess.engine.EngineError as error:
            return {"forfeit": "white" if mover else "black", "why": str(error)}
        clocks[mover] -= time.monotonic() - begin
        if move not in board.legal_moves:
            return {"forfeit": "white" if mover else "black", "why": f"{move} in {board.fen()}"}
        if clocks[mover] < 0:
            return {"forfeit": "white" if mover else "black", "why": f"late by {-clocks[mover]:.3f} s"}
        clocks[mover] += increment
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    return {"ply": board.ply(), "end": outcome.termination.name if outcome else "ADJUDICATED"}


count, base, increment, commands = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4])
with chess.engine.SimpleEngine.popen_uci(commands[0], timeout=20) as one:
    with chess.engine.SimpleEngine.popen_uci(commands[1], timeout=20) as other:
        one.configure({"Skill Level": 10})
        # Over a network of this machine.
        other.configure({"Move Overhead": 40})
        games = []
        for number in range(count):
            opening = openings[number // 2 % len(openings)]
            pair = (one, other) if number % 2 == 0 else (other, one)
            games.append(play(*pair, opening, base, increment))
        print(json.dumps(games))
