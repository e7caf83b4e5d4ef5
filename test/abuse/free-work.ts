import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { envelope } from "../support/envelope.ts";
import { patienceMs } from "../support/patience.ts";
import { ask } from "./ask.ts";
import { rpcOf } from "./calls.ts";
import { watchHealth } from "./health-watch.ts";
import { askAsOthers } from "./leavers.ts";
import { longGame } from "./long-game.ts";
import { useService } from "./started-service.ts";

const game = longGame();
const connections = 32;
/** Without this pause, the client would use the processor time of the service. */
const pauseMs = 50;
const attackMs = 5000;
const grownMaxBytes = 200e6;
/** The units of the error quota in the built-in plans. */
const refusalsMax = 120;

/** Each way causes work and takes it back. `leaveMs`: the client disconnects after this time. */
const ways = [
  {
    name: "evaluations of 600 moves over Connect with a deadline of 1 ms",
    path: rpcOf("Evaluate"),
    headers: { "content-type": "application/json", "connect-timeout-ms": "1" },
    body: JSON.stringify({ fen: "startpos", moves: game }),
    ended: 504,
  },
  {
    name: "reviews of 600 moves over Connect with a deadline of 1 ms",
    path: rpcOf("ReviewGame", "GameService"),
    headers: { "content-type": "application/connect+json", "connect-timeout-ms": "1" },
    body: envelope(Buffer.from(JSON.stringify({ pgn: game.join(" ") }))),
    ended: 200,
  },
  {
    name: "evaluations of 600 moves over gRPC-Web with a deadline of 1 ms",
    path: rpcOf("Evaluate"),
    headers: { "content-type": "application/grpc-web+json", "grpc-timeout": "1m" },
    body: envelope(Buffer.from(JSON.stringify({ fen: "startpos", moves: game }))),
    ended: 200,
  },
  {
    name: "evaluations of 600 moves whose client disconnects after 5 ms",
    path: "/v1/eval",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fen: "startpos", moves: game }),
    leaveMs: 5,
  },
] as const;

/** Tests the ways for which `isTested` returns true. */
export function testFreeWork(isTested: (name: string) => boolean): void {
  const service = useService({ KIBITZ_ACCESS: "public" });
  const rows = ways.map((way, index) => [way.name, way, `127.0.44.${index + 1}`] as const);

  test.each(rows.filter(([name]) => isTested(name)))(
    "45: %s cost their caller its error quota, and harm no other client",
    async (_, way, localAddress) => {
      const { path, headers, body } = way;
      const stopWatching = await watchHealth(service, 60);
      const stopAsking = askAsOthers(service, { fen: "startpos", moves: game.slice(0, 200), depth: 4 });
      const endsAt = performance.now() + attackMs;
      let begun = 0;
      const one = async () => {
        while (performance.now() < endsAt) {
          const signal =
            "leaveMs" in way ? AbortSignal.timeout(way.leaveMs) : AbortSignal.timeout(patienceMs);
          const answer = await ask(service.url + path, {
            method: "POST",
            headers,
            body,
            localAddress,
            signal,
          }).catch(() => undefined);
          begun += answer === undefined || answer.status === ("ended" in way ? way.ended : 0) ? 1 : 0;
          await sleep(pauseMs);
        }
      };
      await Promise.all(Array.from({ length: connections }, one));
      const others = await stopAsking();
      const health = await stopWatching();
      const seen = JSON.stringify({ begun, others, health });
      const next = await ask(`${service.url}/v1/eval`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ fen: "startpos", depth: 1 }),
        localAddress,
      });
      expect(next.status, seen).toBe(429);
      expect(next.body, seen).toContain(`limit of ${refusalsMax} refusals`);
      expect(health.failed, seen).toBe(0);
      expect(health.p95Ms, seen).toBeLessThanOrEqual(100);
      expect(health.grownBytes, seen).toBeLessThan(grownMaxBytes);
      expect(Object.keys(others.statuses), seen).toEqual(["200"]);
    },
  );
}
