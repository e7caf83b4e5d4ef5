import { expect } from "vitest";
import { type AnswerCase, type RefusalCase, startFen } from "./case.ts";

const answer = { kind: "answer", call: "probeTablebase" } as const;

/** The black king attacks the rook. Every move of the white king loses the rook, and every other move of the rook wins. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";
const rookWins = { category: "win", winner: "white", dtz_plies: expect.any(Number), men: 3 };
/** White wins with the clock at 0, but not within the 2 plies that are left. */
const tooLate = "8/8/8/8/8/2k5/8/K6Q w - - 98 80";
const loneKings = "8/8/8/8/8/1k6/8/K7 w - - 0 1";

const win100 = expect.objectContaining({ win_percent: 100 });

/** The answers of a service that has the tables of three men. */
export const tablebases: readonly AnswerCase[] = [
  {
    ...answer,
    call: "evaluate",
    name: "says what the endgame tables know of a position",
    request: { fen: rookHangs, depth: 4, search_moves: ["Re1", "Rh4"] },
    answer: {
      tablebase: rookWins,
      best_move: { uci: expect.stringMatching(/^e4(e1|h4)$/) },
      score: win100,
      summary: expect.stringMatching(/^White wins \(tablebase\)\. Best move: R(e1|h4)\.$/),
    },
  },
  {
    ...answer,
    call: "findBestMove",
    name: "says that the fifty-move rule makes a draw",
    request: { fen: tooLate, depth: 3 },
    answer: {
      tablebase: { category: "cursed_win", men: 3 },
      score: expect.objectContaining({ win_percent: 50 }),
      summary: expect.stringContaining("Draw by the fifty-move rule (tablebase). Best move: "),
    },
    warnings: ["no_history"],
  },
  {
    ...answer,
    call: "evaluate",
    name: "has no tablebase for more men than the tables have",
    request: { fen: "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1", depth: 3 },
    answer: { turn: "white" },
    absent: ["tablebase"],
  },
  {
    ...answer,
    call: "evaluate",
    name: "has no tablebase for a finished game",
    request: { fen: "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1" },
    answer: { terminal: { reason: "checkmate" } },
    absent: ["tablebase"],
  },
  {
    ...answer,
    call: "reviewGame",
    name: "judges moves by the endgame tables",
    request: { fen: rookHangs, moves: ["Ka2", "Kd6"], depth: 4 },
    answer: {
      review: {
        start_evaluation: win100,
        moves: [
          {
            judgement: "blunder",
            centipawn_loss: 1000,
            win_percent: 50,
            evaluation: expect.objectContaining({ win_percent: 50 }),
            tablebase: { category: "draw", men: 3 },
            best: { move: { uci: expect.stringMatching(/^e4/) } },
          },
          {
            judgement: "blunder",
            centipawn_loss: 1000,
            evaluation: win100,
            tablebase: { category: "win", winner: "white" },
            best: { move: { uci: "d5e4" } },
          },
        ],
      },
    },
  },
  {
    ...answer,
    name: "looks up a position and its moves, the best first",
    request: { fen: "8/1P6/8/3k4/8/8/8/K7 w - - 0 1" },
    answer: {
      fen: "8/1P6/8/3k4/8/8/8/K7 w - - 0 1",
      tablebase: { category: "win", winner: "white", dtz_plies: 1, men: 3 },
      moves: expect.toSatisfy((moves: readonly Readonly<Record<string, unknown>>[]) => {
        const [first, ...others] = moves;
        expect(first).toMatchObject({ uci: "b7b8q", san: "b8=Q", category: "loss", zeroing: true });
        expect(others.at(-1)).toMatchObject({ category: "draw" });
        return moves.length === 7;
      }),
    },
  },
  {
    ...answer,
    name: "looks up a checkmate, which has no moves",
    request: { fen: "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3" },
    answer: { tablebase: { category: "loss", winner: "black", dtz_plies: 1, men: 32 }, moves: [] },
  },
  {
    ...answer,
    name: "looks up bare kings",
    request: { fen: loneKings },
    answer: { fen: loneKings, tablebase: { category: "draw", men: 2 }, moves: [] },
  },
  {
    ...answer,
    call: "listEngines",
    name: "lists the endgame tables",
    request: {},
    answer: { tablebases: { men: 3, tables: 5, digest: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  },
];

const refusal = { kind: "refusal", call: "probeTablebase", nextAction: "fix_request" } as const;
const unknown = { ...refusal, code: "not_in_tablebase", nextAction: "send_to_eval", pointers: [] } as const;

export const refusedProbes: readonly RefusalCase[] = [
  { ...unknown, name: "the start position, which no table knows", request: { fen: "startpos" } },
  {
    ...unknown,
    name: "castling rights, which tables do not have",
    request: { fen: "4k3/8/8/8/8/8/8/4K2R w K - 0 1" },
  },
  { ...refusal, name: "a look-up without a FEN", request: {}, code: "invalid_fen", pointers: ["/fen"] },
  {
    ...refusal,
    name: "a look-up of a FEN of more than 128 characters",
    request: { fen: `${startFen}${" ".repeat(100)}` },
    code: "invalid_fen",
    pointers: ["/fen"],
    suggestion: { fen: startFen },
  },
  {
    ...refusal,
    name: "a look-up of a board without kings",
    request: { fen: "8/8/8/8/8/8/8/8 w - - 0 1" },
    code: "illegal_position",
    pointers: ["/fen", "/fen"],
  },
];
