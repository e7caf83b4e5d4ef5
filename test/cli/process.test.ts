import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withRights } from "../support/components.ts";
import { describeWith } from "../support/needs.ts";
import { logLevel, serve } from "../support/served.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type Settings, spawnKibitz } from "./run-kibitz.ts";

/** The proof from outside, a run of each kind: what the commands say in detail is proved within this process. */

const folder = useTemporaryFolder();
const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
const file = join(folder, "positions.epd");
writeFileSync(file, `${mateInOne} bm Re8;\n8/8/8/8/8/8/8/8 w - -\n`);
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

interface Row {
  readonly args: readonly string[];
  readonly env?: Settings;
  readonly code: number;
  readonly stdout: RegExp;
  readonly stderr: RegExp;
}

const rows: readonly Row[] = [
  { args: ["eval", mateInOne, "-d", "8"], code: 0, stdout: /^White mates in 1\./, stderr: /^$/ },
  {
    args: ["eval", "--file", file, "-d", "4"],
    code: 2,
    stdout: /^ {4}1 ✓ .*\n.*\n {4}2 {3}/,
    stderr: /^kibitz: 2 positions, solved 1 of 1 \(100\.0 %\), 1 refused\n$/,
  },
  { args: ["eval", "start", "--json"], code: 2, stdout: /"code":"invalid_fen".*\n$/, stderr: /^$/ },
  { args: ["keys", "create"], code: 0, stdout: /^kbz_[0-9A-Za-z]{36}\n$/, stderr: /not be shown again/ },
  { args: ["--version"], code: 0, stdout: new RegExp(`^${RegExp.escape(version)}\n$`), stderr: /^$/ },
  {
    args: ["serve"],
    env: { KIBITZ_PORT: "eighty" },
    code: 1,
    stdout: /^$/,
    stderr: /^kibitz: KIBITZ_PORT/,
  },
];

test.concurrent.each(rows)("kibitz $args ends by itself with $code", async ({ args, env, ...expected }) => {
  const { code, stdout, stderr } = await spawnKibitz(args, env);
  expect({ code, stdout, stderr }).toEqual({
    code: expected.code,
    stdout: expect.stringMatching(expected.stdout),
    stderr: expect.stringMatching(expected.stderr),
  });
});

/** Where no engine can be kept from the network, since there is no `unshare`. */
const withoutUnshare = [
  ...["unshare", "--mount", ...withRights()],
  ...["sh", "-c", 'mount --bind /dev/null /usr/bin/unshare && exec "$@"', "sh"],
];

describeWith("namespaces", "util-linux")("a sandbox that lacks a guard", () => {
  test("is no affair of a command, whose caller owns the engines", async () => {
    const { code, stderr } = await spawnKibitz(
      ["eval", mateInOne, "-d", "4"],
      {},
      { through: withoutUnshare },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("is told by serve in one sentence that says what follows", async () => {
    const { logged } = await serve({}, { through: withoutUnshare });
    expect(logged.filter(({ level }) => level >= logLevel.warn)).toMatchObject([
      {
        msg: expect.stringMatching(
          /^engine sandbox: an engine that was taken over could (read the key database and )?use the network; kibitz doctor says how to prevent that$/,
        ),
        lacks: expect.arrayContaining(["network"]),
      },
    ]);
  });
});
