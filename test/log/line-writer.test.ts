import { execFileSync } from "node:child_process";
import { constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLineWriter } from "../../src/log/create-log.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** A pipe that nobody reads until `read` is called: it takes 64 KiB. */
function openPipe() {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  // Opening for reading and writing waits for nobody.
  const fd = openSync(path, "r+");
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(1024 * 1024);
  return {
    fd,
    read() {
      try {
        return buffer.toString("utf8", 0, readSync(reader, buffer));
      } catch (error) {
        expect(error).toMatchObject({ code: "EAGAIN" });
        return "";
      }
    },
  };
}

test("how many lines were lost is told where they would have stood, and once", async () => {
  const { fd, read } = openPipe();
  const line = `${"x".repeat(99)}\n`;
  const writer = createLineWriter(fd, {
    togetherMs: 0,
    charsMax: 100_000,
    onLost: (lines) => writer.write(`lost ${lines}\n`),
  });
  const writeMany = (count: number) => Array.from({ length: count }, () => writer.write(line));
  writeMany(800);
  await new Promise((resolve) => setTimeout(resolve, 50));
  // The pipe is full, and so is what may wait after 1000 of these.
  writeMany(1200);
  let all = "";
  await expect
    .poll(() => {
      all += read();
      return /lost/.test(all);
    })
    .toBe(true);
  writer.write("after\n");
  await expect
    .poll(() => {
      all += read();
      return /after/.test(all);
    })
    .toBe(true);
  expect(all).toBe(`${line.repeat(1800)}lost 200\nafter\n`);
});
