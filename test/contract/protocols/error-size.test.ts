import type { IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { callGrpc, enveloped } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";
import type { Plain, Protocol } from "./protocol.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

/** gRPC sends errors in trailers. By default, grpcio and grpc-java reject trailers of more than 8 KiB. */
const trailersMaxBytes = 7 * 1024;

const optionsOf = (count: number, letter: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}${letter.repeat(80)}`, 1]));

/** Each request has more violations than an error can report. */
const invalid: readonly (readonly [string, Plain])[] = [
  ["30 unknown options with long names", { fen: startFen, options: optionsOf(30, "x") }],
  ["30 unknown options with long names in Chinese", { fen: startFen, options: optionsOf(30, "棋") }],
  ["30 unknown options of control characters", { fen: startFen, options: optionsOf(30, "\u0085") }],
  ["one unknown option with a long name of emoji", { fen: startFen, options: optionsOf(1, "♟️") }],
  ["600 moves that are too long", { fen: startFen, moves: Array(600).fill("走".repeat(17)) }],
];

/** GET requests are omitted, because the long messages do not fit into a URL. */
const protocols = rpcProtocols.filter(({ name }) => name !== "Connect GET");

describe.each(protocols)("the errors of $name", ({ open }) => {
  let protocol: Protocol;
  beforeAll(() => {
    protocol = open(app.url);
  });
  afterAll(() => protocol[Symbol.asyncDispose]());

  test.each(invalid)(
    "the RPC error for %s contains as many violations as fit, and the number of omitted violations",
    async (_, request) => {
      const outcome = await protocol.call("evaluate", request);
      expect(outcome).toMatchObject({ kind: "refusal", status: "invalid_argument" });
      if (outcome.kind === "refusal") {
        const { violations, message } = outcome.refusal;
        expect(violations.length).toBeGreaterThan(0);
        const leftOut = Number(/ (\d+) faults? had no room in this error\.$/.exec(message)?.[1] ?? 0);
        expect(violations.length + leftOut).toBe(countOf(request));
      }
    },
  );
});

describe.each(["Evaluate", "StreamEvaluate"])(
  "the trailers of %s are small enough for every client",
  (call) => {
    test.each(invalid)(
      `the trailers of ${call} are small enough for every client, with %s`,
      async (_, request) => {
        const { trailers } = await callGrpc(app.url, call, enveloped(request));
        expect(trailers["grpc-status"]).toBe("3");
        expect(listBytesOf(trailers)).toBeLessThan(trailersMaxBytes);
      },
    );
  },
);

/** Returns the expected number of violations. An error reports at most 20 violations. */
function countOf({ options = {}, moves = [] }: Plain): number {
  return Math.min(20, Object.keys(options as Plain).length + (moves as readonly string[]).length);
}

/** Returns the size of the header list in bytes by the rules of RFC 9113, section 6.5.2. */
function listBytesOf(headers: IncomingHttpHeaders): number {
  return Object.entries(headers)
    .map(([name, value]) => name.length + String(value).length + 32)
    .reduce((sum, bytes) => sum + bytes, 0);
}
