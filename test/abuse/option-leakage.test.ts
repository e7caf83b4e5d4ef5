import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { rowsWith } from "../support/needs.ts";
import { createRandom } from "../support/random.ts";
import { post } from "./ask.ts";
import { startFen, useService } from "./started-service.ts";

const native = nativeStockfish();
// With one slot, all searches use the same engine process. An option that is not reset would affect the next search.
const service = useService({
  KIBITZ_SLOTS: "1",
  KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  KIBITZ_NATIVE_ENGINES: native ?? "none",
});

const fens = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { class: string; fen: string } => JSON.parse(line))
  .filter((line) => line.class === "tactic")
  .map(({ fen }) => fen);

/** Removes the fields that differ between two results of the same search, such as times. */
function withoutTimes(body: string): object {
  const { id: _, search, ...answer } = JSON.parse(body);
  const { time_ms: _time, nps: _nps, queue_ms: _queue, cached: _cached, ...rest } = search;
  return { ...answer, search: rest };
}

const abuses: readonly object[] = [
  { options: { skill_level: 0 } },
  { options: { uci_limit_strength: true, uci_elo: 1400 } },
  { options: { uci_chess960: true } },
  { multipv: 10 },
  { multipv: 10, options: { skill_level: 1, uci_chess960: true } },
  { fen: "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9" },
  { depth: 12 },
  { depth: 30, movetime_ms: 60 },
  { moves: ["e2e4", "e7e5"] },
];

describe("31: options of one caller do not change responses to another", () => {
  test.each(["wasm", ...rowsWith(["native"], "native")])(
    "options from one caller do not change responses to another caller, with the engine path %s",
    async (path) => {
      const { engines } = JSON.parse((await service.get("/engines")).body);
      const isNative = (one: { paths: { path: string }[] }) =>
        one.paths.some((each) => each.path === "native");
      const engine = path === "native" ? engines.find(isNative).id : "stockfish-19-lite";
      const ask = async (fen: string) => {
        const { status, body } = await service.post("/v1/eval", { fen, depth: 7, engine, path });
        expect(status, body).toBe(200);
        return withoutTimes(body);
      };
      const before = new Map<string, object>();
      for (const fen of fens) {
        before.set(fen, await ask(fen));
      }
      const random = createRandom(31);
      for (let round = 0; round < 60; round++) {
        const abuse = { fen: startFen, depth: 6, engine, path, ...random.pick(abuses) };
        const leaving = random.below(3) === 0 ? AbortSignal.timeout(20 + random.below(40)) : undefined;
        const fen = random.pick(fens);
        const [, answer] = await Promise.all([
          post(`${service.url}/v1/eval`, abuse, {}, leaving).catch(() => {}),
          ask(fen),
        ]);
        expect(answer, JSON.stringify(abuse)).toEqual(before.get(fen));
      }
    },
  );
});
