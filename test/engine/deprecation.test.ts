import { expect, test } from "vitest";
import { wasmBuilds } from "../../src/engine/backends/wasm/builds.ts";

/** Maps every engine id of all releases to the day of its deprecation. Never remove an id from this list. */
const offered: Readonly<Record<string, string | undefined>> = {
  "stockfish-19": undefined,
  "stockfish-19-lite": undefined,
  "stockfish-18": undefined,
  "stockfish-18-lite": undefined,
  "stockfish-17.1": undefined,
  "stockfish-17.1-lite": undefined,
};

test("an engine id is available for at least 90 days after its deprecation", () => {
  for (const [id, deprecatedSince] of Object.entries(offered)) {
    const build = wasmBuilds.find((row) => row.id === id);
    const deprecatedForDays = (Date.now() - Date.parse(deprecatedSince ?? "")) / 86_400_000;
    expect(build !== undefined || deprecatedForDays >= 90, `${id} may go`).toBe(true);
    expect(build?.deprecatedSince, id).toBe(build && deprecatedSince);
  }
  expect(wasmBuilds.map(({ id }) => id).filter((id) => !Object.hasOwn(offered, id))).toEqual([]);
});
