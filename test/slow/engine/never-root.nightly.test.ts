import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import { descendantsOf } from "../../engine/processes.ts";
import { createFolder } from "../../engine/write-script.ts";
import { copyCheckout } from "../../support/copy-checkout.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { describeWith } from "../../support/needs.ts";
import { startServer } from "../../support/start-server.ts";

/** Returns the paths of the packages that a server needs, and the path of Node. */
function installed(): readonly string[] {
  const lock = readFileSync(join(import.meta.dirname, "../../../package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const needed = Object.entries(packages).filter(
    ([path, { dev, optional }]) => path !== "" && !dev && !optional,
  );
  return [...needed.map(([path]) => path), "node_modules/node/bin/node"];
}

/** Copies this checkout into a folder that only its owner may enter, like root's home folder. */
function checkoutInHome(): string {
  const home = createFolder();
  chmodSync(home, 0o700);
  return copyCheckout(join(home, "kibitz"), ["package.json", "bin", "src", "gen", ...installed()]);
}

interface Status {
  /** The real, effective, saved and file system user ids. */
  readonly uids: readonly number[];
  readonly gids: readonly number[];
  readonly groups: readonly number[];
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
}

function statusOf(pid: number): Status {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const field = (name: string) =>
    (new RegExp(`^${name}:(.*)$`, "m").exec(status)?.[1] ?? "").trim().split(/\s+/).filter(Boolean);
  return {
    uids: field("Uid").map(Number),
    gids: field("Gid").map(Number),
    groups: field("Groups").map(Number),
    capabilities: ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].flatMap(field),
    noNewPrivileges: field("NoNewPrivs")[0] === "1",
  };
}

const programOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");

describeWith(
  "root",
  "native",
  "namespaces",
  "util-linux",
)("a server that runs as root from files that only root may read", () => {
  test("a server that runs as root runs every engine as another user, from copies that the server makes once", async () => {
    const folder = checkoutInHome();
    // Replaces /var/cache, where a server that runs as root keeps its copies of engines.
    const cache = join(folder, "cache");
    mkdirSync(cache);
    const through = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /var/cache && exec "$@"', cache];
    const copy = join(folder, "stockfish-of-root");
    execFileSync("cp", ["-L", nativeStockfish() ?? "", copy]);
    const logged: string[] = [];
    const server = await startServer(
      {
        PATH: "/usr/bin:/bin",
        KIBITZ_ACCESS: "open",
        KIBITZ_SLOTS: "3",
        KIBITZ_DATA_DIR: join(folder, "data"),
        KIBITZ_NATIVE_ENGINES: copy,
      },
      { cwd: folder, checkout: folder, through, onLog: (line) => logged.push(line) },
    );
    onTestFinished(() => void server.stop("SIGKILL"));
    const { engines } = (await (await fetch(`${server.url}/engines`)).json()) as {
      engines: { id: string; default_path: string }[];
    };
    expect(new Set(engines.map(({ default_path: path }) => path))).toEqual(new Set(["wasm", "native"]));
    const searches = engines.map(({ id }) =>
      post(`${server.url}/v1/eval`, { fen: startFen, depth: 8, engine: id }),
    );
    expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(engines.map(() => 200));
    // Every engine keeps running after its search, because there are as many slots as engines.
    const enginesRunning = () =>
      descendantsOf(server.pid).filter((pid) => programOf(pid).some((word) => /stockfish/.test(word)));
    await expect
      .poll(() => enginesRunning().length, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(engines.length);
    // The tools that build the sandbox run as root, until they execute the engine.
    await expect.poll(() => enginesRunning().flatMap((pid) => statusOf(pid).uids)).not.toContain(0);
    const running = descendantsOf(server.pid);
    expect(running.length).toBeGreaterThanOrEqual(engines.length);
    for (const pid of running) {
      expect(statusOf(pid), programOf(pid).join(" ")).toEqual({
        uids: [65_534, 65_534, 65_534, 65_534],
        gids: [65_534, 65_534, 65_534, 65_534],
        groups: [],
        capabilities: Array.from({ length: 5 }, () => "0000000000000000"),
        noNewPrivileges: true,
      });
    }

    const sandbox = JSON.parse(logged.find((line) => line.includes("engine sandbox")) ?? "{}");
    expect(sandbox).toMatchObject({ user: "nobody", lacks: [] });
    expect(
      readdirSync(join(cache, "kibitz"))
        .map((name) => name.replace(/-[0-9a-f]{64}$/, ""))
        .toSorted(),
    ).toEqual(["node", "stockfish-19-lite-single.js", "stockfish-19-single.js", "stockfish-of-root"]);
    expect(await server.stop()).toBe(0);
  });
});
