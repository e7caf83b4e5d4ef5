import type { UciTransport } from "../../src/engine/uci/transport.ts";

export async function linesOf(engine: UciTransport): Promise<readonly string[]> {
  const lines: string[] = [];
  await engine.read((line) => lines.push(line));
  return lines;
}

export function firstLineOf(engine: UciTransport): Promise<string> {
  return new Promise((resolve, reject) => {
    engine.read(resolve).then(() => reject(new Error("the engine printed nothing")), reject);
  });
}
