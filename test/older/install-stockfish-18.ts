import { execFileSync } from "node:child_process";

/** Installs Stockfish 18 beside the newest Stockfish. `npm prune --no-save` removes it. */
export default function installStockfish18(): void {
  execFileSync("npm", ["install", "--no-save", "stockfish-18@npm:stockfish@18.0.8"], { stdio: "inherit" });
}
