import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { fileOutput } from "../../src/cli/host.ts";
import { describeWith, rowsWith, testWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { diskIsFull, mountSmallDisk, noFileGrowsBeyond } from "./shortages.ts";

const root = useTemporaryFolder();

describeWith("mounts")("standard output on a disk that is full", () => {
  const disk = useTemporaryFolder();
  rowsWith(["mounts"], disk).forEach(mountSmallDisk);
  const env = { ...quickestSettings, KIBITZ_DATA_DIR: root };
  beforeAll(async () => {
    // There is one to be exported.
    await startKibitz(["keys", "create"], env, { stdout: "ignore" }).ended;
  });

  test.concurrent.each([
    [["--version"]],
    [["keys", "create"]],
    [["keys", "export"]],
    [["eval", "startpos", "-d", "3", "--json"]],
  ])("kibitz %j says so, and fails", async (args) => {
    const output = openSync(join(disk, args.join(" ")), "w");
    onTestFinished(() => closeSync(output));
    diskIsFull.begin(disk);
    const kibitz = startKibitz(args, env, { stdout: output });
    const [complaint, code] = await Promise.all([text(kibitz.stderr), kibitz.ended]);
    expect(complaint).toContain("kibitz: standard output cannot be written: ENOSPC");
    expect(complaint).not.toContain("exported");
    expect(code).toBe(1);
  });
});

testWith("mounts")(
  "standard error that cannot be written changes nothing of what a command does",
  async () => {
    const kibitz = startKibitz(["eval", "8/8/8/8/8/8/8/8 w - -"], quickestSettings, {
      through: ["sh", "-c", 'exec "$@" 2>/dev/full', "sh"],
    });
    expect([await text(kibitz.stdout), await kibitz.ended]).toEqual(["", 2]);
  },
);

testWith("util-linux")("a file takes what fits, and the rest is told", () => {
  const name = "output";
  const file = join(root, name);
  writeFileSync(file, "x".repeat(100));
  const shortage = noFileGrowsBeyond(name);
  shortage.begin(root);
  onTestFinished(() => shortage.end(root));
  // Into the file from its beginning: a hundred of the characters fit.
  const output = openSync(file, "r+");
  onTestFinished(() => closeSync(output));
  const told: (string | undefined)[] = [];
  const { once, write } = fileOutput(output);
  once("error", (error: NodeJS.ErrnoException) => told.push(error.code));
  write("é".repeat(40));
  expect(told).toEqual([]);
  write("é".repeat(40));
  expect(told).toEqual(["EFBIG"]);
  expect(statSync(file).size).toBe(100);
  expect(readFileSync(file, "utf8")).toBe("é".repeat(50));
});
