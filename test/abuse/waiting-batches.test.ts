import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { envelope, rpcOf } from "./calls.ts";
import { mib, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

const fens = [
  "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
  "rnbqkb1r/pppp1ppp/4pn2/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 0 3",
];
/** Two searches that take their whole time, and other items behind them. */
const batchOf = (item: object) =>
  gzipSync(
    JSON.stringify({
      requests: [
        ...fens.map((fen) => ({ fen, depth: 20, multipv: 5, movetime_ms: 5000 })),
        ...Array.from({ length: 58 }, () => item),
      ],
    }),
  );
/** Unreadable: an object in the place of each move. Parsed, a batch of them is 22 MB. */
const unreadable = batchOf({ moves: Array.from({ length: 5600 }, () => ({})) });
/** More moves than there may be. */
const long = batchOf({ moves: Array.from({ length: 3400 }, () => "e4") });

const ways = [
  [
    "plain JSON",
    "/v1/eval/batch",
    unreadable,
    { "content-type": "application/json", "content-encoding": "gzip" },
  ],
  [
    "Connect",
    rpcOf("EvaluateBatch"),
    envelope(long, 1),
    {
      "content-type": "application/connect+json",
      "connect-content-encoding": "gzip",
      "connect-accept-encoding": "identity",
    },
  ],
] as const;

describe.each([
  ["public", /batches and reviews at a time/],
  ["open", /hold all of the 8 MiB/],
] as const)("19: in %s mode, 80 batches of 1 kB that unpack to a mebibyte and wait", (mode, refusal) => {
  const service = useService({ KIBITZ_ACCESS: mode });

  test.each(ways)(
    "over %s: most are refused, and the others take little memory",
    async (_, path, body, headers) => {
      expect(body.length).toBeLessThan(2000);
      const stop = await watchHealth(service);
      const client = connect(service.url);
      const answers: string[] = [];
      for (let sent = 0; sent < 80; sent++) {
        const stream = client.request({ ":method": "POST", ":path": path, ...headers });
        stream.on("error", () => {}).end(body);
        text(stream).then(
          (answer) => answers.push(answer),
          () => {},
        );
      }
      await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(70);
      const health = await stop();
      client.destroy();
      expect(answers.filter((answer) => refusal.test(answer)).length).toBeGreaterThan(60);
      expect(health.grownBytes).toBeLessThan(200 * mib);
      expect(health.failed).toBe(0);
    },
  );
});
