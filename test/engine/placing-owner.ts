import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createCage } from "../../src/engine/cage/cage.ts";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { firstLineOf } from "./lines-of.ts";
import { enginesRunning } from "./processes.ts";

/**
 * Stands in for a server that is root: makes a cage, has a program placed that only root can reach, runs it there, and
 * tells. With `stay` it waits to be killed.
 */
const [program = "", stay] = process.argv.slice(2);
try {
  const cage = await createCage({ userName: undefined, hide: "/nowhere" });
  const [placed = ""] = await cage.place([program]);
  const engine = createChildProcess(cage.around({ file: placed, args: [] }, { hashMb: 16, threads: 1 }));
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
  process.stdout.write(`${JSON.stringify({ ...told, user: cage.user?.name, lacks: cage.lacks })}\n`);
  if (stay) {
    setInterval(() => {}, 60_000);
  } else {
    await cage[Symbol.asyncDispose]();
  }
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
