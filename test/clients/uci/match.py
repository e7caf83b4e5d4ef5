"""A match between engines over UCI, with clocks that end games. Prints how it went as JSON.

match.py <games> <base seconds> <increment seconds> <JSON: two commands, each a list> <id of a process that answers one of them>

A game that is lost on time by less than the mover waited for a core is no game. It is played again as on a machine that is as
busy: each time, the clocks and what the engines are told to keep aside are twice as much. After the last try it is lost.
"""

import json
import sys
import time
from pathlib import Path

import chess
import chess.engine

openings = ["e2e4 e7e5", "d2d4 d7d5", "c2c4 g8f6", "g1f3 c7c5", "e2e4 c7c6", "d2d4 g8f6", "e2e4 e7e6", "b2b3 e7e5"]
longest = 160
tries = 4


def below(pid):
    """A process and all that it started."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [each for child in children.read_text().split() for each in below(int(child))]
        except OSError:
            pass  # It has ended.
    return found


def starved(pids):
    """Seconds for which threads of these processes, and all that they started, could run and had no core; nothing where the system does not tell."""
    waited = 0
    for pid in {each for pid in pids for each in below(pid)}:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                waited += int(thread.read_text().split()[1])
            except OSError:
                pass  # It has ended.
    return waited / 1e9


def play(white, black, opening, base, increment, pids):
    """How a game ended: the termination, or the side that forfeited it and why, and whether for want of a core."""
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
        before = starved(pids)
        begin = time.monotonic()
        try:
            move = (white if mover else black).play(board, limit, game=game).move
        except chess.engine.EngineError as error:
            return {"forfeit": "white" if mover else "black", "why": str(error)}
        clocks[mover] -= time.monotonic() - begin
        if move not in board.legal_moves:
            return {"forfeit": "white" if mover else "black", "why": f"{move} in {board.fen()}"}
        if clocks[mover] < 0:
            late, wanted = -clocks[mover], starved(pids) - before
            why = f"late by {late:.3f} s, without a core for {wanted:.3f} s"
            return {"forfeit": "white" if mover else "black", "why": why, "starved": late < wanted}
        clocks[mover] += increment
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    return {"ply": board.ply(), "end": outcome.termination.name if outcome else "ADJUDICATED"}


count, base, increment, commands = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4])
service = int(sys.argv[5])
with chess.engine.SimpleEngine.popen_uci(commands[0], timeout=120) as one:
    with chess.engine.SimpleEngine.popen_uci(commands[1], timeout=120) as other:
        one.configure({"Skill Level": 10})
        # The second is over a network of this machine.
        overheads = [(one, one.options["Move Overhead"].default), (other, 40)]
        pids = [one.transport.get_pid(), other.transport.get_pid(), service]
        games = []
        for number in range(count):
            opening = openings[number // 2 % len(openings)]
            pair = (one, other) if number % 2 == 0 else (other, one)
            for again in range(tries):
                times = 2**again
                for engine, overhead in overheads:
                    engine.configure({"Move Overhead": overhead if again == 0 else 40 * times})
                ended = play(*pair, opening, base * times, increment * times, pids)
                if not ended.get("starved"):
                    break
                print(f"game {number}, {base * times} s: {ended['why']}", file=sys.stderr)
            games.append(ended)
        print(json.dumps(games))
