import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** What a process prints that logs three lines and then ends this way. */
function linesOf(end: string): readonly string[] {
  const source = `
    import { createLog } from "./src/create-log.ts";
    const log = await createLog("info");
    for (const number of [1, 2, 3]) log.info({ number }, "line");
    ${end}
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    cwd: new URL("..", import.meta.url),
    encoding: "utf8",
  });
  return stdout.split("\n").filter(Boolean);
}

test.each([
  ["by itself", ""],
  ["by an exit in the same turn", "process.exit(0)"],
  ["by an error that nobody catches", `throw new Error("a bug")`],
  ["after a while", "await new Promise((resolve) => setTimeout(resolve, 100))"],
])("no line is lost when the process ends %s", (_, end) => {
  expect(linesOf(end).map((line) => JSON.parse(line))).toMatchObject(
    [1, 2, 3].map((number) => ({ number, msg: "line" })),
  );
});
