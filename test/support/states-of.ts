import type { Analysis } from "../../src/analysis/analysis.ts";
import type { Analyzer } from "../../src/analysis/analyzer.ts";

/** Yields the intermediate and final analyses of a search. Omits events about queue positions. */
export async function* statesOf(
  analyzer: Analyzer,
  ...asked: Parameters<Analyzer["follow"]>
): AsyncGenerator<Analysis> {
  for await (const event of analyzer.follow(...asked)) {
    if (event.kind === "state") {
      yield event.analysis;
    }
  }
}
