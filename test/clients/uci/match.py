"""A match between engines over UCI, with clocks that end games. Prints how it went as JSON.

match.py <games> <base seconds> <increment seconds> <JSON: two commands, each a list> <id of the service's process>

The first command searches in its own process, the second asks the service. A clock stops while a first thread of the mover's
processes (kibitz, the service, their engines) is ready to run and has no core, because then another program has it.
"""

import json
import sys
import time
from pathlib import Path

import chess
import chess.engine

openings = ["e2e4 e7e5", "d2d4 d7d5", "c2c4 g8f6", "g1f3 c7c5", "e2e4 c7c6", "d2d4 g8f6", "e2e4 e7e6", "b2b3 e7e5"]
longest = 160


def chain(pids):
    """These processes and all that they started."""
    found = list(pids)
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:
                pass  # The thread has ended.
    return found


def waits(pids):
    """Seconds for which the first thread of each process was ready to run and had no core."""
    seconds = {}
    for pid in chain(pids):
        try:
            seconds[pid] = int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e9
        except OSError:
            pass  # It has ended.
    return seconds


def play(players, opening, base, increment):
    """How a game ended: the termination, or the side that forfeited it and why. Players by colour: an engine and its processes."""
    board = chess.Board()
    for move in opening.split():
        board.push_uci(move)
    clocks = {chess.WHITE: base, chess.BLACK: base}
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < longest:
        mover = board.turn
        side = chess.COLOR_NAMES[mover]
        engine, pids = players[mover]
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=increment,
            black_inc=increment,
        )
        before = waits(pids)
        begin = time.monotonic()
        try:
            move = engine.play(board, limit, game=game).move
        except chess.engine.EngineError as error:
            return {"forfeit": side, "why": str(error)}
        elapsed = time.monotonic() - begin
        waited = sum(seconds - before.get(pid, 0) for pid, seconds in waits(pids).items())
        clocks[mover] -= max(0, elapsed - waited)
        if move not in board.legal_moves:
            return {"forfeit": side, "why": f"{move} in {board.fen()}"}
        if clocks[mover] < 0:
            return {"forfeit": side, "why": f"late by {-clocks[mover]:.3f} s at ply {board.ply()}, after {waited:.3f} s without a core"}
        clocks[mover] += increment
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    return {"ply": board.ply(), "end": outcome.termination.name if outcome else "ADJUDICATED"}


count, base, increment, commands = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4])
service = int(sys.argv[5])
with chess.engine.SimpleEngine.popen_uci(commands[0], timeout=120) as one:
    with chess.engine.SimpleEngine.popen_uci(commands[1], timeout=120) as other:
        one.configure({"Skill Level": 10})
        # The network between it and the service is this machine's, so it needs less than the default.
        other.configure({"Move Overhead": 40})
        players = [(one, [one.transport.get_pid()]), (other, [other.transport.get_pid(), service])]
        games = []
        for number in range(count):
            white, black = players if number % 2 == 0 else reversed(players)
            opening = openings[number // 2 % len(openings)]
            games.append(play({chess.WHITE: white, chess.BLACK: black}, opening, base, increment))
        print(json.dumps(games))
