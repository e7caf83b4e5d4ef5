import type { Plain } from "../protocol.ts";
import { type RefusalCase, startFen } from "./case.ts";

const common = { kind: "refusal", call: "evaluate", nextAction: "fix_request" } as const;

/** All violations of a rejected FEN point to `/fen`. */
const badFen = (
  name: string,
  fen: string,
  code: "invalid_fen" | "illegal_position",
  violations = 1,
): RefusalCase => ({ ...common, name, request: { fen }, code, pointers: Array(violations).fill("/fen") });

/** Expects that the corrected request has the nearest allowed number. */
const outOfRange = (wrong: Readonly<Record<string, number>>, nearest: Plain): RefusalCase => ({
  ...common,
  name: Object.entries(wrong).flat().join(" "),
  request: { fen: startFen, ...wrong },
  code: "out_of_range",
  pointers: Object.keys(wrong).map((field) => `/${field}`),
  suggestion: { fen: startFen, ...nearest },
});

/** Every protocol rejects these positions, moves and numbers with the same code and violations. */
export const refusedRequests: readonly RefusalCase[] = [
  { ...common, name: "no FEN", request: {}, code: "invalid_fen", pointers: ["/fen"] },
  badFen("an empty FEN", "", "invalid_fen"),
  badFen("a text that is no FEN", "checkmate in two, please", "invalid_fen", 4),
  {
    ...badFen("a FEN of more than 128 characters", `${startFen}${" ".repeat(100)}`, "invalid_fen"),
    suggestion: { fen: startFen },
  },
  badFen("a line break and a command in a FEN", `${startFen}\nquit`, "invalid_fen"),
  badFen("a board without kings", "8/8/8/8/8/8/8/8 w - - 0 1", "illegal_position", 2),
  badFen("a king that could be captured", "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "illegal_position"),
  {
    ...badFen("an en passant square on the wrong rank", "4k3/8/8/8/8/8/8/4K3 w - e3 0 1", "invalid_fen"),
    suggestion: { fen: "4k3/8/8/8/8/8/8/4K3 w - - 0 1" },
  },
  {
    ...common,
    name: "a FEN of two fields, completed in the suggestion",
    request: { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", depth: 5, options: { skill_level: 3 } },
    code: "invalid_fen",
    pointers: ["/fen"],
    suggestion: { fen: startFen, depth: 5, options: { skill_level: 3 } },
  },
  {
    ...common,
    name: "a move that is not legal, with its place",
    request: { fen: startFen, moves: ["e4", "e5", "Nf3", "Ke3"] },
    code: "illegal_move",
    pointers: ["/moves/3"],
  },
  {
    ...common,
    name: "a move of 17 characters",
    request: { fen: startFen, moves: ["e4", "x".repeat(17)] },
    code: "illegal_move",
    pointers: ["/moves/1"],
  },
  {
    ...common,
    name: "a move without a character",
    request: { fen: startFen, moves: [""] },
    code: "illegal_move",
    pointers: ["/moves/0"],
  },
  {
    ...common,
    name: "601 moves",
    request: { fen: startFen, moves: Array(601).fill("e4") },
    code: "out_of_range",
    pointers: ["/moves"],
  },
  {
    ...common,
    name: "moves to search that are not legal, each with its place",
    request: { fen: startFen, moves: ["e4"], search_moves: ["e5", "e4", "Nd7"] },
    code: "illegal_move",
    pointers: ["/search_moves/1", "/search_moves/2"],
  },
  {
    ...common,
    name: "a move to search that may be two",
    request: { fen: "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", search_moves: ["Nd2"] },
    code: "illegal_move",
    pointers: ["/search_moves/0"],
  },
  {
    ...common,
    name: "a move to search where the game is over",
    request: { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", search_moves: ["Kg8"] },
    code: "illegal_move",
    pointers: ["/search_moves/0"],
  },
  {
    ...common,
    name: "a move to search of 17 characters",
    request: { fen: startFen, search_moves: ["x".repeat(17)] },
    code: "illegal_move",
    pointers: ["/search_moves/0"],
  },
  {
    ...common,
    name: "219 moves to search",
    request: { fen: startFen, search_moves: Array(219).fill("e4") },
    code: "out_of_range",
    pointers: ["/search_moves"],
  },
  {
    ...common,
    name: "nodes out of their bounds, mended in a request that says more",
    request: { fen: "startpos", nodes: 0, search_moves: ["e4", "d2d4"], multipv: 2 },
    code: "out_of_range",
    pointers: ["/nodes"],
    suggestion: { fen: "startpos", nodes: 1, search_moves: ["e4", "d2d4"], multipv: 2 },
  },
  outOfRange({ nodes: 0 }, { nodes: 1 }),
  outOfRange({ nodes: 1_000_000_001 }, { nodes: 1_000_000_000 }),
  outOfRange({ depth: 0 }, { depth: 1 }),
  outOfRange({ depth: 31 }, { depth: 30 }),
  outOfRange({ multipv: 0 }, { multipv: 1 }),
  outOfRange({ multipv: 11 }, { multipv: 10 }),
  outOfRange({ movetime_ms: 49 }, { movetime_ms: 50 }),
  outOfRange({ movetime_ms: 60_001 }, { movetime_ms: 60_000 }),
  outOfRange({ depth: 0, multipv: 11, movetime_ms: 1 }, { depth: 1, multipv: 10, movetime_ms: 50 }),
  {
    ...common,
    call: "getPrice",
    name: "the estimate of a depth that cannot be asked",
    request: { depth: 31 },
    code: "out_of_range",
    pointers: ["/depth"],
    suggestion: { depth: 30 },
  },
  {
    ...common,
    call: "getPrice",
    name: "the estimate of nodes that cannot be asked",
    request: { nodes: 1_000_000_001 },
    code: "out_of_range",
    pointers: ["/nodes"],
    suggestion: { nodes: 1_000_000_000 },
  },
  {
    ...common,
    name: "an enum number that is not defined",
    request: { fen: startFen, path: 9 },
    code: "out_of_range",
    pointers: ["/path"],
    rpcOnly: true,
  },
];
