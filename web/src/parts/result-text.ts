import {
  Color,
  type Tablebase,
  TablebaseCategorySchema,
} from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { wordsOfEnum } from "../../../src/calls/plain/enum-words.ts";
import { tablebaseText } from "../../../src/chess/score.ts";

const categories = wordsOfEnum(TablebaseCategorySchema);

/** Returns what endgame tables know, such as `White wins (tablebase)`. */
export function resultText(tablebase: Tablebase | undefined): string | undefined {
  if (tablebase === undefined) {
    return undefined;
  }
  const { category, winner } = tablebase;
  return tablebaseText({
    category: categories.get(category) ?? "",
    winner: winner === undefined ? undefined : winner === Color.WHITE ? "white" : "black",
  });
}
