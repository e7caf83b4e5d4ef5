import type { UciTransport } from "../../src/engine/uci/transport.ts";

/** All that an engine prints, when its pipe has ended. */
export async function linesOf(engine: UciTransport): Promise<readonly string[]> {
  const lines: string[] = [];
  await engine.read((line) => lines.push(line));
  return lines;
}

/** What an engine prints first, as soon as it does. */
export function firstLineOf(engine: UciTransport): Promise<string> {
  return new Promise((resolve, reject) => {
    engine.read(resolve).then(() => reject(new Error("the engine printed nothing")), reject);
  });
}
