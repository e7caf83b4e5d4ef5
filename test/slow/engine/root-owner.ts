import { readFileSync, statSync } from "node:fs";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createChildProcess } from "../../../src/engine/uci/child-process.ts";
import { firstLineOf } from "../../engine/lines-of.ts";
import { enginesRunning } from "../../engine/processes.ts";

/**
 * Simulates a server that runs as root and starts `program` as an engine. Prints the path of the program and the user of the
 * engine.
 */
const [program = "", cache = ""] = process.argv.slice(2);
try {
  const sandbox = await createSandbox({ userName: undefined, hide: "/nowhere", cache });
  const [placed = ""] = await sandbox.ensureReadable([program]);
  const engine = createChildProcess(sandbox.wrap({ file: placed, args: [] }, { hashMb: 16, threads: 1 }));
  const printed = await firstLineOf(engine);
  // The user ids as the host sees them, outside the engine's namespaces.
  const ids = enginesRunning().map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return ["Uid", "Gid", "Groups"].map((name) =>
      new RegExp(`^${name}:(.*)$`, "m").exec(status)?.[1]?.trim(),
    );
  });
  await engine.kill();
  const { uid: owner } = statSync(placed);
  process.stdout.write(
    JSON.stringify({ placed, owner, printed, ids, user: sandbox.user?.name, lacks: sandbox.lacks }),
  );
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error) }));
}
