import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createChildProcess } from "../../../src/engine/uci/child-process.ts";
import { firstLineOf } from "../../engine/lines-of.ts";
import { enginesRunning } from "../../engine/processes.ts";

/**
 * Stands in for a server that is root: makes a sandbox, has a program placed that only root can reach, runs it there, and
 * tells. With `stay` it waits to be killed.
 */
const [program = "", stay] = process.argv.slice(2);
try {
  const sandbox = await createSandbox({ userName: undefined, hide: "/nowhere" });
  const [placed = ""] = await sandbox.place([program]);
  const engine = createChildProcess(sandbox.around({ file: placed, args: [] }, { hashMb: 16, threads: 1 }));
  const said = await firstLineOf(engine);
  // From outside: in a namespace of its own it may take itself for somebody else.
  const ids = enginesRunning().map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return ["Uid", "Gid", "Groups"].map((name) =>
      new RegExp(`^${name}:(.*)$`, "m").exec(status)?.[1]?.trim(),
    );
  });
  await engine.kill();
  const { ino, mode } = statSync(placed);
  const folder = statSync(dirname(dirname(placed)));
  const told = {
    placed,
    ino,
    mode,
    said,
    ids,
    folder: { uid: folder.uid, gid: folder.gid, mode: folder.mode },
  };
  process.stdout.write(`${JSON.stringify({ ...told, user: sandbox.user?.name, lacks: sandbox.lacks })}\n`);
  if (stay) {
    setInterval(() => {}, 60_000);
  } else {
    await sandbox[Symbol.asyncDispose]();
  }
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
