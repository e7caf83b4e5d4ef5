import { expect, test } from "vitest";
import { post } from "../../../contract/protocols/post.ts";
import { choiceOfRow } from "../../../nightly/engine-rows.ts";
import { nativeStockfish } from "../../../support/native-stockfish.ts";
import { rowsWith } from "../../../support/needs.ts";
import { patientTimes } from "../../../support/patient-times.ts";
import { useApp } from "../../../support/running-app.ts";

export function testTimeAndNodes(answers: number): void {
  // Answers are cached and stored, so that a false deterministic answer would be found.
  const settings = {
    KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
    KIBITZ_STORE_MB: "1",
    KIBITZ_SLOTS: "1",
  };
  const app = useApp(settings, { engineTimes: patientTimes });

  test.each(["stockfish-19-lite", ...rowsWith(["native"], "native")])(
    `none of ${answers} answers that 50 ms end is called the deterministic answer for 20 million nodes, and none is cached: %s`,
    async (row) => {
      const pawnEnding = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1";
      const choice = await choiceOfRow(row, app.url);
      const ask = async (movetimeMs: number) => {
        const request = { fen: pawnEnding, nodes: 20_000_000, movetime_ms: movetimeMs, ...choice };
        const { status, body } = await post(`${app.url}/v1/eval`, request);
        expect(status).toBe(200);
        return body.search as Readonly<Record<string, unknown>>;
      };
      for (let times = 0; times < answers; times++) {
        const search = await ask(50);
        expect(search).toMatchObject({ stop_reason: "movetime", deterministic: false, cached: false });
        expect(search.nodes).toBeLessThan(10_000_000);
      }
      // A longer search is another search, and visits more nodes.
      const { nodes, cached } = await ask(2000);
      expect(cached).toBe(false);
      expect(nodes).toBeGreaterThan(Number((await ask(50)).nodes));
    },
  );
}
