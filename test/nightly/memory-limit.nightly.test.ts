import { expect, onTestFinished } from "vitest";
import { limitMemory } from "../support/memory-limit.ts";
import { testWith } from "../support/needs.ts";
import { serve } from "../support/served.ts";

testWith("memory limits").each([
  [2 ** 30, 1],
  [1.2e9, 2],
])(
  "in %i bytes of memory, a server with %i slots of the full WebAssembly network answers, and nothing is killed",
  async (bytes, slots) => {
    const limit = limitMemory(bytes);
    const server = await serve(
      {
        KIBITZ_SLOTS: String(slots),
        KIBITZ_ENGINE_MEMORY_MB: String(Math.floor(bytes / 2e6)),
        KIBITZ_NATIVE_ENGINES: "none",
        KIBITZ_WASM_BUILD: "fast",
        KIBITZ_DEFAULT_ENGINE: "stockfish-19",
        KIBITZ_ACCESS: "open",
      },
      { through: limit.through },
    );
    onTestFinished(async () => {
      await server.stop();
      limit[Symbol.dispose]();
    });
    const evaluate = async (move: number) => {
      const fen = `r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - ${move} 30`;
      const response = await fetch(`${server.url}/v1/eval`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ fen, depth: 14 }),
      });
      return response.status;
    };
    const answers = Array.from({ length: 4 * slots }, (_, move) => evaluate(move));
    expect(await Promise.all(answers)).toEqual(answers.map(() => 200));
    expect(limit.kills()).toBe(0);
  },
);
