"""python-chess as a referee: reads a question a line as JSON, and answers each with a line of JSON, in order."""

import functools
import json
import random
import sys

import chess
import chess.syzygy

MENDED = chess.STATUS_BAD_CASTLING_RIGHTS | chess.STATUS_INVALID_EP_SQUARE
UNPLAYABLE = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_EMPTY
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_PAWNS_ON_BACKRANK
)


def normal_fen(board):
    return board.fen(shredder=board.chess960, en_passant="legal")


def outcome(board, legal_count):
    if legal_count == 0:
        return "checkmate" if board.is_check() else "stalemate"
    return "insufficient_material" if board.is_insufficient_material() else None


def judge(fen, chess960):
    """None for what is no FEN; else status, and where it can be played the normal FEN, legal moves and outcome."""
    try:
        board = chess.Board(fen, chess960=chess960)
    except ValueError:
        return None
    status = int(board.status())
    if status & UNPLAYABLE:
        return [status]
    if status & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    legal_count = board.legal_moves.count()
    return [status, normal_fen(board), legal_count, outcome(board, legal_count)]


LIVELY = [
    "r3k2r/1PPp2p1/8/4Pp2/2pP4/8/1P3pPp/R3K2R w KQkq - 0 1",
    "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
]


def first_board(rng):
    kind = rng.random()
    if kind < 0.4:
        return chess.Board()
    if kind < 0.8:
        return chess.Board.from_chess960_pos(rng.randrange(960))
    return chess.Board(rng.choice(LIVELY))


def choose(rng, board, moves):
    """Any move, but castling, en passant and promotions more often than they would come by themselves."""
    if rng.random() < 0.3:
        rare = [m for m in moves if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
        if rare:
            return rng.choice(rare)
    if rng.random() < 0.15:
        double = [m for m in moves if abs(m.from_square - m.to_square) == 16 and board.piece_type_at(m.from_square) == 1]
        if double:
            return rng.choice(double)
    return rng.choice(moves)


def games(seed, count):
    """Positions of random games: [FEN as one may write it, whether Chess960 is to be asked for, and the judgement]."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        board = first_board(rng)
        for _ in range(rng.randrange(20, 160)):
            moves = list(board.legal_moves)
            shredder = board.chess960 and rng.random() < 0.5
            fen = board.fen(shredder=shredder, en_passant=rng.choice(["legal", "fen", "xfen"]))
            judgement = [int(board.status()), normal_fen(board), len(moves), outcome(board, len(moves))]
            found.append([fen, board.chess960 and (not shredder or "-" in fen.split()[2]), judgement])
            if not moves:
                break
            board.push(choose(rng, board, moves))
    return found[:count]


def mating(seed, count):
    """Positions where one side is strong enough to mate soon, its pieces anywhere; shaped as those of games()."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        board = chess.Board(None)
        strong = rng.random() < 0.5
        weak_men = rng.choices("pnb", k=rng.randrange(4))
        men = ["K", *rng.choices("QQRRBNP", k=rng.randrange(2, 5)), "k", *weak_men]
        for man, square in zip(men, rng.sample(range(64), len(men))):
            board.set_piece_at(square, chess.Piece.from_symbol(man if strong else man.swapcase()))
        board.turn = rng.random() < 0.5
        if not board.is_valid():
            continue
        moves = list(board.legal_moves)
        judgement = [int(board.status()), normal_fen(board), len(moves), outcome(board, len(moves))]
        found.append([board.fen(), False, judgement])
    return found


def line(fen, chess960, ucis):
    """Plays moves: how many are legal, their SAN, the FEN at the end, and whether that is checkmate."""
    board = chess.Board(fen, chess960=chess960)
    sans = []
    for uci in ucis:
        try:
            move = board.parse_uci(uci)
        except ValueError:
            break
        sans.append(board.san(move))
        board.push(move)
    return [len(sans), sans, normal_fen(board), board.is_checkmate()]


class Exhausted(Exception):
    pass


def mates(board, moves_left, budget):
    """Whether the side to move can force mate in so many moves."""
    checks, quiet = [], []
    for move in board.legal_moves:
        (checks if board.gives_check(move) else quiet).append(move)
    for move in checks + (quiet if moves_left > 1 else []):
        board.push(move)
        mated = is_mated(board, moves_left - 1, budget)
        board.pop()
        if mated:
            return True
    return False


def is_mated(board, moves_left, budget):
    """Whether the side to move is mated now, or cannot escape mate in so many moves of the other."""
    budget[0] -= 1
    if budget[0] < 0:
        raise Exhausted
    if moves_left == 0:
        return board.is_checkmate()
    replies = list(board.legal_moves)
    if not replies:
        return board.is_check()
    for reply in replies:
        board.push(reply)
        forced = mates(board, moves_left, budget)
        board.pop()
        if not forced:
            return False
    return True


def prove(fen, chess960, mate, nodes):
    """Searches through a claim: `mate` moves, + for White. True, False, or None when it takes too long."""
    board = chess.Board(fen, chess960=chess960)
    mover = mate if board.turn == chess.WHITE else -mate
    budget = [nodes]
    try:
        return mates(board, mover, budget) if mover > 0 else is_mated(board, -mover, budget)
    except Exhausted:
        return None


@functools.cache
def tables(folder):
    return chess.syzygy.open_tablebase(folder)


def raw_probe(board, folder):
    """[FEN, result, distance] as the tables have them, which assumes that the half-move clock is 0."""
    return [board.fen(en_passant="legal"), tables(folder).probe_wdl(board), tables(folder).probe_dtz(board)]


def men_of(name):
    white, black = name.split("v")
    return [*white, *black.lower()]


def set_double_step(rng, board):
    """Moves a pawn of each side, so that the last move was a double step beside a pawn. False if there is no room."""
    rank = 4 if board.turn else 3
    file, other = rng.sample(range(8), 2)
    if abs(file - other) != 1:
        return False
    for color, to in ((board.turn, file), (not board.turn, other)):
        board.remove_piece_at(board.pieces(chess.PAWN, color).pop())
        if board.piece_at(8 * rank + to):
            return False
        board.set_piece_at(8 * rank + to, chess.Piece(chess.PAWN, color))
    step = 8 if board.turn else -8
    board.ep_square = 8 * rank + other + step
    return not board.piece_at(board.ep_square) and not board.piece_at(board.ep_square + step)


def endings(folder, name, seed, count):
    """Random positions with the pieces of a table, also with colours swapped. Captures en passant are frequent."""
    rng = random.Random(f"{name} {seed}")
    men, found = men_of(name), []
    while len(found) < count:
        board, swap = chess.Board(None), rng.random() < 0.5
        for man, square in zip(men, rng.sample(range(64), len(men))):
            board.set_piece_at(square, chess.Piece.from_symbol(man.swapcase() if swap else man))
        board.turn = rng.random() < 0.5
        if "p" in men and "P" in men and rng.random() < 0.3 and not set_double_step(rng, board):
            continue
        if board.is_valid():
            found.append(raw_probe(board, folder))
    return found


def endings_with_king_on(folder, name, king):
    """Every position of three men with White's king on this square."""
    found = []
    for turn in (chess.WHITE, chess.BLACK):
        for second in range(64):
            for third in range(64):
                board = chess.Board(None)
                board.turn = turn
                for man, square in zip(men_of(name), (king, second, third)):
                    board.set_piece_at(square, chess.Piece.from_symbol(man))
                if len({king, second, third}) == 3 and board.is_valid():
                    found.append(raw_probe(board, folder))
    return found


def defend(folder, fen):
    """The reply that delays the next capture or pawn move longest. None if the game is over, or a draw can be claimed."""
    board = chess.Board(fen)
    if board.can_claim_fifty_moves() and not board.is_checkmate():
        return None
    best = None
    for move in board.legal_moves:
        zeroing = board.is_zeroing(move)
        board.push(move)
        delay = -1 if zeroing else tables(folder).probe_dtz(board)
        board.pop()
        if best is None or delay > best[0]:
            best = [delay, move.uci()]
    return best and best[1]


ANSWERS = {
    "endings": endings,
    "endings_with_king_on": endings_with_king_on,
    "defend": defend,
    "judge": lambda items: [judge(*item) for item in items],
    "games": games,
    "mating": mating,
    "lines": lambda items: [line(*item) for item in items],
    "prove": prove,
}

for question in sys.stdin:
    name, *arguments = json.loads(question)
    print(json.dumps(ANSWERS[name](*arguments), separators=(",", ":")), flush=True)
