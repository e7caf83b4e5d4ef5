import { rowsWith } from "../support/needs.ts";
import { type EngineChoice, engineChoicesOf } from "./engine-choices.ts";

/** Rows of a test table: the ids of the two WebAssembly engines, and "native" for the native engine. */
export const engineRows = ["stockfish-19-lite", "stockfish-19", ...rowsWith(["native"], "native")] as const;

export async function choiceOfRow(row: string, url: string): Promise<EngineChoice> {
  const choice = (await engineChoicesOf(url)).find(({ engine, path }) => engine === row || path === row);
  if (choice === undefined) {
    throw new Error(`the server has no engine ${row}`);
  }
  return choice;
}
