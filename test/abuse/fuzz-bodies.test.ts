import { expect, test } from "vitest";
import { createRandom } from "../support/random.ts";
import { rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { watchHealth } from "./health-watch.ts";
import { startFen, useService } from "./started-service.ts";

const service = useService();

const bodies = 1000;
const seed = 20_261_121;
const slowestMs = 5000;

const calls = [
  "/v1/eval",
  "/v1/bestmove",
  "/v1/eval/stream",
  "/v1/eval/batch",
  rpcOf("Evaluate"),
  rpcOf("FindBestMove"),
];
const pieces = [
  "null",
  "true",
  "-1",
  "1e999",
  '""',
  "[]",
  "{}",
  "\\u0000",
  "\\ud800",
  "\ud83d\ude00",
  '"fen":',
  ",",
  "}",
  "{",
  "[",
  "]",
  ":",
  '"',
  "\\",
  "\n",
  "\r",
  "\u0000",
  "\u2028",
  "9".repeat(30),
  "x".repeat(300),
  "__proto__",
  "moves",
  "options",
  "e2e4",
  "%s%n",
  "../../",
  "'",
];

/** What a request looks like after so many accidents. */
function mutate(text: string, random: ReturnType<typeof createRandom>): Uint8Array<ArrayBuffer> {
  let bytes = Buffer.from(text);
  for (let accidents = 1 + random.below(4); accidents > 0; accidents--) {
    const at = random.below(bytes.length + 1);
    const length = random.below(8);
    switch (random.below(6)) {
      case 0:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(pieces)), bytes.subarray(at)]);
        break;
      case 2:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(random.pick(pieces)),
          bytes.subarray(at + length),
        ]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(random.below(256)), bytes.subarray(at + 1)]);
        break;
      case 4:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          bytes.subarray(Math.max(0, at - length), at),
          bytes.subarray(at),
        ]);
        break;
      default:
        bytes = bytes.subarray(0, at);
    }
  }
  return Uint8Array.from(bytes);
}

test(`23: ${bodies} seeded bodies: no failure, no hang, no engine ended`, async () => {
  const random = createRandom(seed);
  const engines = service.engines();
  const stop = await watchHealth(service);
  let left = bodies;
  const client = async () => {
    while (left-- > 0) {
      const path = random.pick(calls);
      const item = {
        fen: startFen,
        depth: 1,
        movetime_ms: 50,
        moves: ["e2e4"],
        engine: "latest",
        options: { skill_level: 3 },
      };
      const body = mutate(JSON.stringify(path.endsWith("batch") ? { requests: [item, item] } : item), random);
      const told = `seed ${seed}, ${left} left: ${path} ${Buffer.from(body).toString("latin1")}`;
      const startedAt = performance.now();
      const answer = await service.post(path, body);
      expect(performance.now() - startedAt, told).toBeLessThan(slowestMs);
      expect([200, 400, 413, 503], `${told} → ${answer.body}`).toContain(answer.status);
      if (answer.status !== 200 && path.startsWith("/v1")) {
        expectProblem(answer, { status: [400, 413, 503] }, Buffer.from(body).toString());
      }
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  const health = await stop();
  expect(health.failed).toBe(0);
  // A second one may have been started beside the first.
  expect(service.engines()).toEqual(expect.arrayContaining([...engines]));
});
