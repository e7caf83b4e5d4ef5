import type { Analysis } from "../../src/analysis/analysis.ts";
import type { Analyzer } from "../../src/analysis/analyzer.ts";

/** Yields the analyses of a search, without the events that report queue positions. */
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
