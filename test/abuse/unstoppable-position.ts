import { describe, expect, test } from "vitest";
import { unstoppable } from "../engine/unstoppable.ts";
import { envelope } from "../support/envelope.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { post } from "./ask.ts";
import { rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { startFen, useService } from "./started-service.ts";

const native = nativeStockfish();

interface Listed {
  readonly id: string;
  readonly paths: readonly { readonly path: string }[];
}

/** Each target is "wasm lite", "wasm full", "auto" or "native". */
export function testUnstoppablePosition(targets: readonly string[]): void {
  describe.each(targets)("29: a legal position in which the engine %s hangs", (target) => {
    // Each engine is tested with a new service, because a service refuses such a position for a minute after the first attempt.
    const service = useService({
      KIBITZ_WASM_BUILD: "fast",
      KIBITZ_NATIVE_ENGINES: native ?? "none",
      KIBITZ_DEFAULT_ENGINE:
        target === "wasm full" || target === "auto" ? "stockfish-19" : "stockfish-19-lite",
    });

    async function whichEngine(): Promise<object> {
      const { engines }: { engines: readonly Listed[] } = JSON.parse((await service.get("/engines")).body);
      const withNative = engines.find(({ paths }) => paths.some(({ path }) => path === "native"));
      return (
        {
          "wasm lite": { engine: "stockfish-19-lite", path: "wasm" },
          "wasm full": { engine: "stockfish-19", path: "wasm" },
          auto: { path: "auto" },
          native: { engine: withNative?.id, path: "native" },
        }[target] ?? {}
      );
    }

    test(`if ${target} hangs in a position, the request gets the status 200, 503 or 504, and the next position is evaluated`, async () => {
      const which = await whichEngine();
      const ask = (request: object) => service.post("/v1/eval", { depth: 20, ...which, ...request });
      expect((await ask({ fen: startFen, depth: 4 })).status).toBe(200);
      const stop = await watchHealth(service);
      for (const movetimeMs of [300, 50, 300]) {
        const answer = await ask({ fen: unstoppable, movetime_ms: movetimeMs });
        if (answer.status !== 200) {
          expectProblem(
            answer,
            { status: [503, 504], code: ["engine_timeout", "overloaded", "starting"] },
            unstoppable,
          );
        }
        expect((await ask({ fen: startFen, depth: 4 })).status).toBe(200);
      }
      expectUnharmed(await stop());
    });

    test(`if many calls send a position in which ${target} hangs, each call gets the status 200, 503 or 504`, async () => {
      const which = await whichEngine();
      const request = { fen: unstoppable, depth: 20, movetime_ms: 300, ...which };
      const { engine, path } = which as { engine?: string; path: string };
      const rpc = JSON.stringify({
        fen: unstoppable,
        depth: 20,
        movetimeMs: 300,
        path: `PATH_${path.toUpperCase()}`,
        ...(engine && { engine }),
      });
      const answers = await Promise.all([
        service.post("/v1/bestmove", request),
        service.post("/v1/eval", { ...request, multipv: 3 }),
        service.post("/v1/eval", { ...request, moves: [] }),
        service.post("/v1/eval/stream", request),
        service.post("/v1/eval/batch", { requests: [request, { ...request, fen: startFen, depth: 3 }] }),
        service.post(rpcOf("FindBestMove"), rpc),
        service.post(rpcOf("StreamEvaluate"), envelope(Buffer.from(rpc)), {
          "Content-Type": "application/connect+json",
        }),
        post(`${service.url}/v1/eval`, { ...request, depth: 19 }, {}, AbortSignal.timeout(100)).catch(
          () => undefined,
        ),
      ]);
      for (const answer of answers) {
        expect([200, 503, 504, undefined], answer?.body).toContain(answer?.status);
      }
      const items: { index: number; result: object | null }[] = JSON.parse(answers[4]?.body ?? "");
      expect(items[1]?.result).toHaveProperty("best_move.uci");
      expect((await service.post("/v1/eval", { fen: startFen, depth: 4, ...which })).status).toBe(200);
    });
  });
}
