import { expect, test } from "vitest";
import { type Settings, spawnKibitz } from "./run-kibitz.ts";

const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

interface Row {
  readonly args: readonly string[];
  readonly env?: Settings;
  readonly code: number;
  readonly stdout: RegExp;
  readonly stderr: RegExp;
}

const rows: readonly Row[] = [
  { args: ["eval", mateInOne, "-d", "8"], code: 0, stdout: /^White mates in 1\./, stderr: /^$/ },
  { args: ["eval", "start", "--json"], code: 2, stdout: /"code":"invalid_fen".*\n$/, stderr: /^$/ },
  {
    args: ["serve"],
    env: { KIBITZ_PORT: "eighty" },
    code: 1,
    stdout: /^\{"level":60,.*"error":"KIBITZ_PORT is .*\}\n$/,
    stderr: /^kibitz: KIBITZ_PORT/,
  },
];

test.concurrent.each(rows)("kibitz $args exits with $code", async ({ args, env, ...expected }) => {
  const { code, stdout, stderr } = await spawnKibitz(args, env);
  expect({ code, stdout, stderr }).toEqual({
    code: expected.code,
    stdout: expect.stringMatching(expected.stdout),
    stderr: expect.stringMatching(expected.stderr),
  });
});
