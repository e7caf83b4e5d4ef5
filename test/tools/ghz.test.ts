import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { useApp } from "../support/running-app.ts";
import { runGoTool } from "./go-tools.ts";

const app = useApp({ KIBITZ_CACHE_MB: "0", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

describeWith("ghz")("ghz, without any proto file", () => {
  test("ghz can send FindBestMove calls without a proto file, and every call is answered", async () => {
    const request = { fen: "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3", depth: 6 };
    const { code, stdout } = await runGoTool(
      "ghz",
      ...["--insecure", "--call", "chess.analysis.v1.AnalysisService/FindBestMove"],
      ...["-n", "200", "-c", "8", "-d", JSON.stringify(request), "-O", "json"],
      new URL(app.url).host,
    );
    const { count, statusCodeDistribution } = JSON.parse(stdout);
    expect([code, count, statusCodeDistribution]).toEqual([0, 200, { OK: 200 }]);
  });
});
