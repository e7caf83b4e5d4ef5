import { Chess, type Move } from "chess.js";
import { describe, expect, test } from "vitest";
import { describeMove, describeVariation } from "../../src/chess/moves.ts";
import { createRandom } from "../support/random.ts";
import { positionOf, startFen } from "./validated.ts";

const pieces = { q: "queen", r: "rook", b: "bishop", n: "knight" } as const;

/** Describes a move of chess.js in the form of Kibitz. Kibitz uses another library, chessops. */
function refereeOf(move: Move) {
  const promotion = move.promotion === undefined ? undefined : pieces[move.promotion as keyof typeof pieces];
  const castling = move.isKingsideCastle() ? "kingside" : move.isQueensideCastle() ? "queenside" : undefined;
  const { from, to, san } = move;
  const capture = move.isCapture() || move.isEnPassant();
  return {
    uci: move.lan,
    san,
    from,
    to,
    promotion,
    capture,
    check: /[+#]$/.test(san),
    castling,
    fenAfter: move.after,
  };
}

function playRandomGame(seed: number, fen: string, plies: number, onPosition: (game: Chess) => void): Chess {
  const random = createRandom(seed);
  const game = new Chess(fen);
  for (let ply = 0; ply < plies && !game.isCheckmate() && !game.isStalemate(); ply++) {
    onPosition(game);
    game.move(random.pick(game.moves()));
  }
  return game;
}

/** A start position in which castling, en passant and promotions are possible within a few moves. */
const livelyFen = "r3k2r/1PPp2p1/8/4Pp2/2pP4/8/1P3pPp/R3K2R w KQkq - 0 1";

describe("chess.js, as an independent referee,", () => {
  const games = Array.from(
    { length: 4 },
    (_, seed) => [seed, seed % 2 === 0 ? startFen : livelyFen] as const,
  );

  test("Kibitz and chess.js find the same legal moves in every position of random games", () => {
    const seen = new Set<string>();
    for (const [seed, fen] of games) {
      playRandomGame(seed, fen, 60, (game) => {
        const position = positionOf(game.fen());
        const moves = game.moves({ verbose: true });
        expect(position.fen).toBe(game.fen());
        expect(position.legalMoveCount, position.fen).toBe(moves.length);
        expect(moves.map((move) => describeMove(position, move.lan))).toEqual(moves.map(refereeOf));
        for (const move of moves) {
          if (move.isKingsideCastle()) {
            seen.add("kingside");
          }
          if (move.isQueensideCastle()) {
            seen.add("queenside");
          }
          if (move.isEnPassant()) {
            seen.add("en passant");
          }
          if (move.isPromotion() && move.isCapture()) {
            seen.add("promotion with capture");
          }
          if (move.san.endsWith("#")) {
            seen.add("mate");
          }
        }
      });
    }
    expect([...seen].sort()).toEqual([
      "en passant",
      "kingside",
      "mate",
      "promotion with capture",
      "queenside",
    ]);
  });

  test.each(games)(
    "Kibitz and chess.js reach the same position after the moves of random game %i, in UCI and in SAN",
    (seed, fen) => {
      const game = playRandomGame(seed, fen, 200, () => {});
      const history = game.history({ verbose: true });
      const ucis = history.map((move) => move.lan);
      const resets = history.findLastIndex(({ after }) => after.split(" ")[4] === "0");
      for (const moves of [ucis, game.history()]) {
        const position = positionOf(fen, { moves });
        expect(position.fen).toBe(game.fen());
        expect(position.moves).toEqual(ucis.slice(resets + 1));
        expect(position.root).toBe(history[resets]?.after ?? fen);
        expect(position.legalMoveCount).toBe(game.moves().length);
        expect(position.terminal?.reason === "checkmate").toBe(game.isCheckmate());
        expect(position.terminal?.reason === "stalemate").toBe(game.isStalemate());
      }
      expect(describeVariation(positionOf(fen), ucis, 0)).toMatchObject({ moves: ucis, san: game.history() });
    },
  );

  test("Kibitz and chess.js count the same repetitions in a game with only two kings", () => {
    const fen = "k7/8/8/p7/P7/8/8/K7 w - - 0 1";
    const random = createRandom(7);
    const game = new Chess(fen);
    const claims = new Set<boolean>();
    while (game.history().length < 60) {
      game.move(random.pick(game.moves({ verbose: true }).filter((move) => /^[abc][18]$/.test(move.to))));
      const { drawClaim, terminal } = positionOf(fen, { moves: game.history() });
      const repeated = drawClaim === "threefold_repetition" || terminal?.reason === "fivefold_repetition";
      expect(repeated).toBe(game.isThreefoldRepetition());
      claims.add(repeated);
    }
    expect(claims.size).toBe(2);
  });
});
