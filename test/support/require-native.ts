import { nativeStockfish } from "./native-stockfish.ts";

/** Says once what this run leaves out; in CI nothing may be left out. */
export default function requireNative(): void {
  if (nativeStockfish() !== undefined) {
    return;
  }
  if (process.env.CI) {
    throw new Error("no native Stockfish: apt-get install stockfish");
  }
  console.log(
    "Left out: tests on a native Stockfish, because none is installed (Debian: apt-get install stockfish).",
  );
}
