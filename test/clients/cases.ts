import { expect } from "vitest";
import type { Command } from "./probe.ts";

export interface Case {
  /** The end of a test name that begins with "a client". */
  readonly sees: string;
  readonly command: Command;
  readonly key?: true;
  /** Arrays must match completely. Objects may have additional fields. */
  readonly expected: object;
  /** The reason why `expected` accepts different values. */
  readonly differs?: string;
}

export const italianGame = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
const pawnEndgame = "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1";
const mated = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";

export const quick = { fen: italianGame, depth: 4 };

/** This search takes a minute. */
export const longSearch = { fen: italianGame, depth: 30, multipv: 5, movetime_ms: 60_000 };

const evaluate = (request: Command["request"]): Command => ({ method: "Evaluate", request });

const errorInfo = (code: string, nextAction: string) => ({
  type: "google.rpc.ErrorInfo",
  value: {
    domain: "kibitz",
    reason: code.toUpperCase(),
    metadata: { code, next_action: nextAction, request_id: expect.stringMatching(/^[\w-]{36}$/) },
  },
});

const badRequest = (...violations: readonly (readonly [field: string, code: string])[]) => ({
  type: "google.rpc.BadRequest",
  value: {
    fieldViolations: violations.map(([field, code]) => ({
      field,
      reason: code.toUpperCase(),
      description: expect.stringMatching(/.{10}/),
    })),
  },
});

/** Returns the expected error. The last detail of every error is a problem document. */
const refused = (code: string, info: ReturnType<typeof errorInfo>, ...details: readonly object[]) => ({
  code,
  message: expect.stringMatching(/.{10}/),
  messages: [],
  details: [info, ...details, problem(info.value.metadata)],
});

const problem = ({
  code,
  next_action: nextAction,
}: {
  readonly code: string;
  readonly next_action: string;
}) => ({
  type: "chess.analysis.v1.Problem",
  value: { code, nextAction, type: `/problems/${code.replaceAll("_", "-")}` },
});

const invalid = (
  nextAction: string,
  ...violations: readonly [readonly [string, string], ...(readonly [string, string])[]]
) => refused("INVALID_ARGUMENT", errorInfo(violations[0][1], nextAction), badRequest(...violations));

export const cases: readonly Case[] = [
  {
    sees: "reads every field of a best move",
    command: { method: "FindBestMove", request: { fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", depth: 8 } },
    expected: {
      code: "OK",
      message: "",
      details: [],
      messages: [
        {
          score: { mate: 1, winPercent: 100 },
          bestMove: {
            uci: "e1e8",
            san: "Re8#",
            check: true,
            fenAfter: "4R1k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1",
          },
          search: { nodes: expect.stringMatching(/^\d+$/), stopReason: "STOP_REASON_DEPTH" },
        },
      ],
    },
  },
  {
    sees: "reads the result of a finished game, and no best move",
    command: evaluate({ fen: mated }),
    expected: {
      code: "OK",
      messages: [
        expect.toSatisfy(
          (answer) =>
            answer.bestMove === undefined &&
            answer.engine === undefined &&
            answer.terminal.reason === "TERMINAL_REASON_CHECKMATE" &&
            answer.terminal.winner === "COLOR_WHITE" &&
            answer.score.mate === 0,
        ),
      ],
    },
  },
  {
    sees: "reads the violation of an invalid FEN",
    command: evaluate({ fen: "8/8/8/4k3/8/4K3/4P3/8 nobody - - 0 1" }),
    expected: invalid("fix_request", ["fen", "invalid_fen"]),
  },
  {
    sees: "reads the violation of an illegal position",
    command: evaluate({ fen: "8/8/8/8/8/4K3/4P3/8 w - - 0 1" }),
    expected: invalid("fix_request", ["fen", "illegal_position"]),
  },
  {
    sees: "reads the index of an illegal move",
    command: evaluate({ fen: italianGame, moves: ["Nf6", "Ke3"] }),
    expected: invalid("fix_request", ["moves[1]", "illegal_move"]),
  },
  {
    sees: "reads that the depth 0 is out of range",
    command: evaluate({ fen: italianGame, depth: 0 }),
    expected: invalid("send_suggested_request", ["depth", "out_of_range"]),
  },
  {
    sees: "reads several violations of one request",
    command: evaluate({ fen: italianGame, depth: 0, multipv: 0, movetime_ms: 49 }),
    expected: invalid(
      "send_suggested_request",
      ["depth", "out_of_range"],
      ["multipv", "out_of_range"],
      ["movetime_ms", "out_of_range"],
    ),
  },
  {
    sees: "reads the same violation from a stream as from a unary call",
    command: { method: "StreamEvaluate", request: { fen: "8/8/8/4k3/8/4K3/4P3/8 nobody - - 0 1" } },
    expected: invalid("fix_request", ["fen", "invalid_fen"]),
  },
  {
    sees: "reads the next action list_engines after a request with an unknown engine",
    command: evaluate({ fen: italianGame, engine: "deep-blue" }),
    expected: invalid("list_engines", ["engine", "unknown_engine"]),
  },
  {
    sees: "reads an error whose violations do not fit into the headers",
    command: evaluate({
      fen: italianGame,
      options: Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`${index}${"棋".repeat(80)}`, 1]),
      ),
    }),
    expected: {
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/ \d+ faults had no room in this error\.$/),
      details: expect.arrayContaining([
        errorInfo("option_not_allowed", "fix_request"),
        {
          type: "google.rpc.BadRequest",
          value: {
            fieldViolations: expect.arrayContaining([
              expect.objectContaining({ reason: "OPTION_NOT_ALLOWED" }),
            ]),
          },
        },
      ]),
    },
  },
  {
    sees: "reads how to get a plan with higher limits",
    command: evaluate({ fen: italianGame, depth: 30 }),
    expected: refused(
      "PERMISSION_DENIED",
      errorInfo("upgrade_needed", "get_api_key"),
      badRequest(["depth", "over_plan_limit"]),
    ),
  },
  {
    sees: "reads that a message of more than 64 KiB is refused, and that a retry is useless",
    command: evaluate({ fen: "x".repeat(100_000) }),
    expected: refused("RESOURCE_EXHAUSTED", errorInfo("body_too_large", "fix_request")),
  },
  {
    sees: "reads that a compressed message is refused if its decompressed size exceeds 64 KiB",
    command: { ...evaluate({ fen: "x".repeat(100_000) }), compress: true },
    expected: refused("RESOURCE_EXHAUSTED", errorInfo("body_too_large", "fix_request")),
  },
  {
    sees: "reads an error after sending metadata of more than 16 KiB, without losing the connection",
    command: { ...evaluate({ fen: italianGame, depth: 1 }), metadata: { "x-much": "a".repeat(20_000) } },
    expected: {
      code: expect.toBeOneOf(["RESOURCE_EXHAUSTED", "INTERNAL", "UNKNOWN"]),
      messages: [],
      details: [],
    },
    differs:
      "No protocol of RPC is spoken yet. HTTP/2 resets the stream: RESOURCE_EXHAUSTED; grpc-go reads the limit " +
      "from the settings and sends nothing: INTERNAL; HTTP/1.1 answers 431, which Connect's clients call UNKNOWN.",
  },
  {
    sees: "with a wrong key is refused, although a client without a key is accepted",
    command: { ...evaluate({ fen: italianGame, depth: 1 }), metadata: { authorization: "Bearer kbz_wrong" } },
    expected: refused("UNAUTHENTICATED", errorInfo("invalid_api_key", "check_api_key")),
  },
  {
    sees: "with a key is not bound by the limits of callers without a key",
    command: evaluate({ fen: pawnEndgame, depth: 22 }),
    key: true,
    expected: { code: "OK", messages: [{ search: { limits: { depth: 22 } } }] },
  },
  {
    sees: "reads the limits and the remaining quota of its key",
    command: { method: "GetKey", request: {} },
    key: true,
    expected: {
      code: "OK",
      messages: [
        {
          name: "probe",
          plan: "free",
          limits: { depthMax: 30 },
          remaining: [
            {
              name: "minute",
              unit: "request",
              quota: "240",
              remaining: expect.stringMatching(/^\d+$/),
              windowS: 60,
            },
            { name: "engine-day", unit: "engine_ms" },
            { name: "refusals", unit: "refusal" },
          ],
        },
      ],
    },
  },
  {
    sees: "without a key reads how to get a key",
    command: { method: "GetKey", request: {} },
    expected: refused("UNAUTHENTICATED", errorInfo("api_key_required", "get_api_key")),
  },
];
