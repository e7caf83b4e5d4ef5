import { expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";

test("kibitz doctor tests every engine and the sandbox, and reports that a machine without problems is ready to serve", async () => {
  const { code, stdout, stderr } = await runKibitz(["doctor"]);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^✓ machine {7}Node\.js \d/);
  expect(stdout).toMatch(/✓ sandbox +engines run as \w+/);
  for (const id of ["stockfish-19", "stockfish-19-lite"]) {
    expect(stdout).toMatch(new RegExp(` ${id} \\(wasm\\): .*sha256 [0-9a-f]{12}…, passes its self-test`));
  }
  expect(stdout).toMatch(/\nReady to serve(, \d+ notes? \(!\))?\.\n$/);
  expect(code).toBe(0);
});

test("kibitz doctor --json prints one JSON object on each line, and exits with 1 if the service could not start", async () => {
  const env = {
    KIBITZ_DEFAULT_ENGINE: "stockfish-1",
    KIBITZ_NATIVE_ENGINES: "/nope/x",
    KIBITZ_CACHE_MB: "100000",
  };
  const { code, stdout } = await runKibitz(["doctor", "--json"], env);
  const findings = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const bad = findings.filter(({ state }) => state === "bad");
  expect(bad).toEqual([
    {
      part: "cache",
      state: "bad",
      found: expect.stringMatching(/^KIBITZ_CACHE_MB: /),
      advice: expect.any(String),
    },
    {
      part: "engines",
      state: "bad",
      found: expect.stringContaining("stockfish-1"),
      advice: expect.any(String),
    },
  ]);
  expect(findings).toContainEqual({
    part: "engines",
    state: "note",
    found: expect.stringMatching(
      /^\/nope\/x: KIBITZ_NATIVE_ENGINES names a file that cannot be run \(.*ENOENT/,
    ),
    advice: expect.stringContaining("KIBITZ_NATIVE_ENGINES"),
  });
  expect(code).toBe(1);
});
