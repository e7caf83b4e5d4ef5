/** Acts as the server: runs a hostile engine in the sandbox, and reports which attacks succeeded. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";

const folder = mkdtempSync(join(tmpdir(), "kibitz-sandbox-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
// Other users may enter this folder, but not its subfolder `data`.
chmodSync(folder, 0o755);
const hide = join(folder, "data");
mkdirSync(hide, { mode: 0o700 });
const keys = join(hide, "kibitz.db");
writeFileSync(keys, "secret", { mode: 0o600 });

const listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
await new Promise((resolve) => listener.once("listening", resolve));
const { port } = listener.address() as { port: number };

const [kind, userName] = process.argv.slice(2);
const sandbox =
  kind === "none" ? noSandbox : await createSandbox({ userName, hide, cache: join(folder, "cache") });
const [hostile = ""] = await sandbox.ensureReadable([join(import.meta.dirname, "hostile-engine.js")]);
const command = { file: sandbox.node, args: [hostile, keys, join(folder, "x"), String(port)] };
const engine = createChildProcess(sandbox.wrap(command, { hashMb: 16, threads: 1 }));
const outcomes: Record<string, string> = {};
await engine.read((line) => {
  const [name = "", outcome = ""] = line.split(" ");
  outcomes[name] = outcome;
});
process.stdout.write(
  JSON.stringify({ user: sandbox.user?.name, holds: sandbox.holds, lacks: sandbox.lacks, outcomes }),
);
process.exit();
