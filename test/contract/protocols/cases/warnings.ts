import { type AnswerCase, defaultDepth, mateFen, startFen } from "./case.ts";

const common = { kind: "answer", call: "evaluate" } as const;

export const warnings: readonly AnswerCase[] = [
  {
    ...common,
    name: "warns that the default depth holds beside movetime_ms",
    request: { fen: mateFen, movetime_ms: 60_000 },
    answer: { search: { stop_reason: "depth", limits: { depth: defaultDepth, movetime_ms: 60_000 } } },
    warnings: ["default_depth_applied"],
  },
  {
    ...common,
    name: "has no warning about the default depth if the request limits the nodes",
    request: { fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1", nodes: 300, multipv: 1, movetime_ms: 60_000 },
    answer: { search: { stop_reason: "nodes", limits: { nodes: 300, movetime_ms: 60_000 } } },
  },
  {
    ...common,
    name: "removes castling rights without a rook in place",
    request: { fen: "4k3/8/8/8/8/8/4P3/4K3 w KQ - 0 1", depth: 6 },
    answer: { fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" },
    warnings: ["castling_rights_removed"],
  },
  {
    ...common,
    name: "removes an en passant square on which nothing can be captured",
    request: { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", depth: 6 },
    answer: { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" },
    warnings: ["ep_square_removed"],
  },
  {
    ...common,
    name: "completes a FEN without clocks",
    request: { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", depth: 6 },
    answer: { fen: startFen },
    warnings: ["clocks_defaulted"],
  },
  {
    ...common,
    name: "warns of all at once, in the order of the fields",
    request: { fen: "3k4/1R6/8/8/8/8/8/4K2R w KQ a6", multipv: 2, movetime_ms: 60_000 },
    answer: { fen: "3k4/1R6/8/8/8/8/8/4K2R w K - 0 1" },
    warnings: ["castling_rights_removed", "clocks_defaulted", "ep_square_removed", "default_depth_applied"],
  },
  {
    ...common,
    call: "findBestMove",
    name: "warns that an engine of low skill may not play its best line",
    request: { fen: startFen, depth: 6, options: { skill_level: 3 } },
    answer: {
      search: { deterministic: false, cached: false, limits: { options: { skill_level: 3 } } },
    },
    warnings: ["strength_limited"],
  },
  {
    ...common,
    call: "findBestMove",
    name: "weakens an engine to an Elo",
    request: { fen: startFen, depth: 6, options: { uci_limit_strength: true, uci_elo: 1500 } },
    answer: {
      search: { deterministic: false, limits: { options: { uci_limit_strength: true, uci_elo: 1500 } } },
    },
    warnings: ["strength_limited"],
  },
  {
    ...common,
    name: "does not call the highest skill a weakness",
    request: { fen: startFen, depth: 6, options: { skill_level: 20 } },
    answer: { search: { deterministic: true } },
  },
];
