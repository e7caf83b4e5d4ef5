import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCage, noCage } from "../../src/engine/cage/cage.ts";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { makeFolder } from "../../src/storage/sqlite/make-folder.ts";

/** Stands in for a server, run as whoever a test likes: puts a hostile engine into its cage and tells what that could do. */
const folder = mkdtempSync(join(tmpdir(), "kibitz-cage-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
// Only what is hidden on purpose is to be out of reach.
chmodSync(folder, 0o755);
const hide = join(folder, "data");
makeFolder(hide);
const keys = join(hide, "kibitz.db");
writeFileSync(keys, "secret", { mode: 0o600 });

const listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
await new Promise((resolve) => listener.once("listening", resolve));
const { port } = listener.address() as { port: number };

const [kind, userName] = process.argv.slice(2);
const cage = kind === "none" ? noCage : await createCage({ userName, hide });
const [hostile = ""] = await cage.place([join(import.meta.dirname, "hostile-engine.js")]);
const command = { file: cage.node, args: [hostile, keys, join(folder, "x"), String(port)] };
const engine = createChildProcess(cage.around(command, { hashMb: 16, threads: 1 }));
const outcomes: Record<string, string> = {};
await engine.read((line) => {
  const [name = "", outcome = ""] = line.split(" ");
  outcomes[name] = outcome;
});
process.stdout.write(
  JSON.stringify({ user: cage.user?.name, holds: cage.holds, lacks: cage.lacks, outcomes }),
);
await cage[Symbol.asyncDispose]();
process.exit();
