import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { rowsWith } from "../support/needs.ts";
import { expectProblem } from "./expect-problem.ts";
import { useService } from "./started-service.ts";

interface Line {
  readonly id: string;
  readonly fen: string;
  readonly expect: {
    readonly status: readonly number[];
    readonly request?: object;
    readonly legal?: readonly string[];
  };
}

const lines = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): Line => JSON.parse(line));

const native = nativeStockfish();
const service = useService({ KIBITZ_NATIVE_ENGINES: native ?? "none" });

const paths = ["wasm", ...rowsWith(["native"], "native")];

describe("22: every position of the corpus is answered or refused as it says, and ends no engine", () => {
  test.each(paths)("%s", async (path) => {
    const { engines } = JSON.parse((await service.get("/engines")).body);
    const isNative = (one: { paths: { path: string }[] }) => one.paths.some((each) => each.path === "native");
    const engine = path === "native" ? engines.find(isNative).id : "stockfish-19-lite";
    const ask = (call: string, { fen, expect: { request } }: Line) =>
      service.post(call, { ...request, fen, depth: 4, engine, path });
    const [warm] = lines;
    expect((await ask("/v1/eval", warm ?? expect.fail("no corpus"))).status).toBe(200);
    const processes = service.engines();
    for (const line of lines) {
      for (const call of ["/v1/eval", "/v1/bestmove"]) {
        const answer = await ask(call, line);
        expect(line.expect.status, `${line.id}: ${answer.body}`).toContain(answer.status);
        if (answer.status !== 200) {
          expectProblem(
            answer,
            { status: 400, code: ["invalid_fen", "illegal_position", "out_of_range"] },
            line.fen,
          );
        } else if (line.expect.legal) {
          expect(line.expect.legal, line.id).toContain(JSON.parse(answer.body).best_move?.uci);
        }
      }
    }
    expect(service.engines()).toEqual(processes);
  });
});
