import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { diskIsFull, mountSmallDisk } from "../../faults/shortages.ts";
import { describeWith } from "../../support/needs.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startKibitz } from "../../support/start-kibitz.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const root = useTemporaryFolder();

describeWith("mounts")("standard output on a full disk", () => {
  const disk = useTemporaryFolder();
  mountSmallDisk(disk);
  const env = { ...quickestSettings, KIBITZ_DATA_DIR: root };
  beforeAll(async () => {
    // `keys export` needs a key to export.
    await startKibitz(["keys", "create"], env, { stdout: "ignore" }).ended;
  });

  test.concurrent.each([
    [["--version"]],
    [["keys", "create"]],
    [["keys", "export"]],
    [["eval", "startpos", "-d", "3", "--json"]],
  ])(
    "kibitz with the arguments %j exits with 1 and an error message if standard output is on a full disk",
    async (args) => {
      const output = openSync(join(disk, args.join(" ")), "w");
      onTestFinished(() => closeSync(output));
      diskIsFull.begin(disk);
      const kibitz = startKibitz(args, env, { stdout: output });
      const [complaint, code] = await Promise.all([text(kibitz.stderr), kibitz.ended]);
      expect(complaint).toContain("kibitz: standard output cannot be written: ENOSPC");
      expect(complaint).not.toContain("exported");
      expect(code).toBe(1);
    },
  );
});

test("a command whose standard error cannot be written has its usual standard output and exit code", async () => {
  const kibitz = startKibitz(["eval", "8/8/8/8/8/8/8/8 w - -"], quickestSettings, {
    through: ["sh", "-c", 'exec "$@" 2>/dev/full', "sh"],
  });
  expect([await text(kibitz.stdout), await kibitz.ended]).toEqual(["", 2]);
});
