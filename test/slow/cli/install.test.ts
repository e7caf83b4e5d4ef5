import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../engine/write-script.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { describeWith } from "../../support/needs.ts";
import { startKibitz } from "../../support/start-kibitz.ts";
import { startServer } from "../../support/start-server.ts";

const engine = nativeStockfish() ?? "";
const sha256 = () => createHash("sha256").update(readFileSync(engine)).digest("hex");

/** Starts a command as root with another /usr/local/share: a bound folder, or what `mount` mounts there. */
function startAsRoot(
  args: readonly string[],
  share: string,
  mount = 'mount --bind "$0" /usr/local/share',
  dataHome = "",
) {
  const through = ["unshare", "--mount", "sh", "-c", `${mount} && exec "$@"`, share];
  const env = { PATH: "/usr/bin:/bin", HOME: createFolder(), KIBITZ_DATA_DIR: join(share, "data") };
  return startKibitz(args, { ...env, XDG_DATA_HOME: dataHome }, { through });
}

async function finish(kibitz: ReturnType<typeof startAsRoot>) {
  const [stdout, stderr, code] = await Promise.all([text(kibitz.stdout), text(kibitz.stderr), kibitz.ended]);
  return { stdout, stderr, code };
}

/** Sends half of the file and then waits, so that an installation is in the middle of its download. */
async function startStoppingServer(): Promise<string> {
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { "content-length": 2_000_000 }).write(Buffer.alloc(1_000_000));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/engine`;
}

const folderIn = (share: string) => join(share, "kibitz", "engines");
const installing = () => ["engines", "install", "--from", engine, "--sha256", sha256()];

describeWith(
  "root",
  "mounts",
  "native",
)("kibitz engines install of root", () => {
  test("root installs an engine that every user may read and run, lists it and removes it", async () => {
    const share = createFolder();
    const installed = await finish(startAsRoot([...installing(), "--json"], share));
    expect(installed.stderr).toContain("Every user's Kibitz on this machine finds it");
    const { id, path } = JSON.parse(installed.stdout) as { id: string; path: string };
    expect(path).toBe(join("/usr/local/share/kibitz/engines", id));
    expect(readdirSync(folderIn(share))).toEqual([id]);
    const modes = ["..", ".", id].map((name) => statSync(join(folderIn(share), name)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o755, 0o755]);
    const list = await finish(startAsRoot(["engines", "list", "--json"], share));
    expect(JSON.parse(list.stdout)).toMatchObject({ id, path, sha256: sha256() });
    const removed = await finish(startAsRoot(["engines", "remove", id], share));
    expect(removed).toMatchObject({ code: 0, stdout: `deleted ${path}\n` });
    expect(readdirSync(folderIn(share))).toEqual([]);
  });

  test("every user may enter the folders that root's installation creates", async () => {
    const local = createFolder();
    const { code } = await finish(startAsRoot(installing(), local, 'mount --bind "$0" /usr/local'));
    expect(code).toBe(0);
    const share = join(local, "share");
    const folders = [share, join(share, "kibitz"), folderIn(share)];
    expect(folders.map((folder) => statSync(folder).mode & 0o777)).toEqual([0o755, 0o755, 0o755]);
  });

  test("a user's own engine is removed, and the error names the engine that the user may not remove", async () => {
    const share = createFolder();
    const own = createFolder();
    for (const folder of [folderIn(share), folderIn(own)]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "stockfish-99"), "");
    }
    // A read-only bind has for root the same effect as the folder of another user.
    const mount = 'mount --bind "$0" /usr/local/share && mount -o remount,ro,bind /usr/local/share';
    const removed = await finish(startAsRoot(["engines", "remove", "stockfish-99"], share, mount, own));
    expect(removed.stdout).toBe(`deleted ${join(folderIn(own), "stockfish-99")}\n`);
    expect(removed.stderr).toMatch(/\/usr\/local\/share\S+ cannot be deleted \(EROFS\)/);
    expect(removed.code).toBe(1);
  });

  test.each([
    ["is full", "mount -t tmpfs -o size=20m none /usr/local/share", /the disk of \S+ is full/],
    [
      "is read-only",
      "mount -t tmpfs -o ro none /usr/local/share",
      /EROFS.+Make \/usr\/local\/share\/kibitz\/engines writable/,
    ],
  ])("nothing is installed if the disk %s, and the error says what to do", async (_, mount, message) => {
    const { code, stdout, stderr } = await finish(startAsRoot(installing(), createFolder(), mount));
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  test("a download that is killed leaves no engine, and the next installation deletes its rest", async () => {
    const share = createFolder();
    const address = await startStoppingServer();
    const kibitz = startAsRoot(["engines", "install", "--from", address, "--sha256", sha256()], share);
    await expect.poll(() => readdirSync(share)).toContain("kibitz");
    await expect.poll(() => readdirSync(folderIn(share))).toHaveLength(1);
    await kibitz.stop("SIGKILL");
    expect(readdirSync(folderIn(share))).toEqual([expect.stringMatching(/^\.unfinished-/)]);
    const list = await finish(startAsRoot(["engines", "list", "--json"], share));
    expect(list).toMatchObject({ code: 0, stdout: "" });
    expect(await finish(startAsRoot(installing(), share))).toMatchObject({ code: 0 });
    expect(readdirSync(folderIn(share))).toEqual([expect.stringMatching(/^stockfish-/)]);
  });

  test("a download that is interrupted exits with 130 and leaves nothing", async () => {
    const share = createFolder();
    const address = await startStoppingServer();
    const kibitz = startAsRoot(["engines", "install", "--from", address, "--sha256", sha256()], share);
    await expect.poll(() => readdirSync(share)).toContain("kibitz");
    await expect.poll(() => readdirSync(folderIn(share))).toHaveLength(1);
    expect(await kibitz.stop("SIGINT")).toBe(130);
    expect(readdirSync(folderIn(share))).toEqual([]);
  });
});

test("the log at the start names the command that installs a native build, if latest is WebAssembly", async () => {
  const folder = createFolder();
  chmodSync(folder, 0o755);
  const lines: string[] = [];
  const server = await startServer(
    { KIBITZ_ACCESS: "open", KIBITZ_DATA_DIR: join(folder, "data"), HOME: folder, KIBITZ_SLOTS: "1" },
    { onLog: (line) => lines.push(line) },
  );
  onTestFinished(() => void server.stop("SIGKILL"));
  const logged = lines.map((line) => JSON.parse(line) as { msg: string }).map(({ msg }) => msg);
  expect(logged).toContainEqual(
    expect.stringMatching(/^latest is stockfish-19 in WebAssembly; kibitz engines install installs/),
  );
});
