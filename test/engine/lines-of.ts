import type { UciTransport } from "../../src/engine/uci/transport.ts";

/** All lines that an engine prints until its pipe ends. */
export async function linesOf(engine: UciTransport): Promise<readonly string[]> {
  const lines: string[] = [];
  await engine.read((line) => lines.push(line));
  return lines;
}

/** The first line that an engine prints, as soon as it arrives. */
export function firstLineOf(engine: UciTransport): Promise<string> {
  return new Promise((resolve, reject) => {
    engine.read(resolve).then(() => reject(new Error("the engine printed nothing")), reject);
  });
}
