import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { packableCheckout } from "../../support/packable-checkout.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** What a build may take where much else is running; it is waited for, and not measured. */
const buildMaxMs = 200_000;

const here = fileURLToPath(new URL("../../..", import.meta.url));
const folder = useTemporaryFolder();

const clone = (name: string) => packableCheckout(join(folder, name));

interface Started {
  readonly server: Server;
  readonly log: readonly string[];
}

async function start(checkout: string): Promise<Started> {
  const log: string[] = [];
  const env = { ...quickestSettings, KIBITZ_PAGE: "on", KIBITZ_DATA_DIR: join(checkout, "data") };
  const server = await startServer(env, { checkout, onLog: (line) => log.push(line) });
  onTestFinished(async () => {
    await server.stop();
  });
  return { server, log };
}

const pageOf = async ({ server }: Started) =>
  (await fetch(server.url, { headers: { accept: "text/html" } })).text();
const buildIsTold = async ({ log }: Started) => {
  await expect
    .poll(() => log.join("\n"), { timeout: buildMaxMs })
    .toMatch(/the page (was built|could not be)/);
  return log.find((line) => line.includes("the page"));
};
const scriptIn = (page: string) => /src="\.(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "no script";

describe("a checkout whose page is not built", () => {
  test(
    "builds it once the service is ready, and again only when a source has changed",
    async () => {
      const checkout = clone("built");
      const both = await Promise.all([start(checkout), start(checkout)]);
      expect(await pageOf(both[0])).toContain("being built");
      for (const started of both) {
        expect(await buildIsTold(started)).toContain("was built");
        const path = scriptIn(await pageOf(started));
        const script = await fetch(started.server.url + path);
        expect([path, script.status]).toEqual([expect.stringMatching(/^\/assets\//), 200]);
        await started.server.stop();
      }
      const texts = join(checkout, "web/src/texts.ts");
      writeFileSync(texts, readFileSync(texts, "utf8").replace('"Kibitz"', '"Saved"'));
      const again = await start(checkout);
      expect(await buildIsTold(again)).toContain("was built");
      expect(await (await fetch(again.server.url + scriptIn(await pageOf(again)))).text()).toContain("Saved");
      await again.server.stop();

      const unchanged = await start(checkout);
      expect(scriptIn(await pageOf(unchanged))).toContain("/assets/");
      await unchanged.server.stop();
      expect(unchanged.log.join("\n")).not.toContain("the page");
    },
    3 * buildMaxMs,
  );

  test(
    "tells in a line that it cannot be built, and serves on",
    async () => {
      const checkout = clone("broken");
      writeFileSync(join(checkout, "web/src/main.tsx"), 'import "./gone.ts";\n');
      const started = await start(checkout);
      expect(await buildIsTold(started)).toMatch(/"error":"[^"]*gone\.ts/);
      expect(await pageOf(started)).toContain("npm run build:page");
      expect(await (await fetch(started.server.url)).text()).toContain("Try:");
      expect((await fetch(`${started.server.url}/readyz`)).status).toBe(200);
    },
    3 * buildMaxMs,
  );
});

describe("a build of the page that does not end", () => {
  const leftIn = (checkout: string) =>
    readdirSync(join(checkout, "dist")).filter((name) => name.startsWith(".web-"));
  const build = (checkout: string) =>
    spawn(process.execPath, ["tools/build-page.ts"], { cwd: checkout, stdio: "ignore" });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "leaves nothing behind when it is interrupted by %s",
    async (signal) => {
      const checkout = clone(`interrupted-${signal}`);
      mkdirSync(join(checkout, "dist"));
      const child = build(checkout);
      const ended = once(child, "exit");
      await expect.poll(() => leftIn(checkout), { interval: 5, timeout: buildMaxMs }).toHaveLength(1);
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      expect(readdirSync(join(checkout, "dist"))).toEqual([]);
    },
  );

  test("is cleaned up after by the next one, if it was killed long ago; one that may be under way is left alone", async () => {
    const checkout = clone("killed");
    const [old, recent] = [join(checkout, "dist/.web-killed"), join(checkout, "dist/.web-building")];
    for (const folder of [old, recent]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "index.html"), "half");
    }
    const hourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(old, hourAgo, hourAgo);
    expect(await once(build(checkout), "exit")).toEqual([0, null]);
    expect(readdirSync(join(checkout, "dist")).toSorted()).toEqual([".web-building", "web"]);
  });
});

test(
  "the package has the page built, with the licences of what is in it, and nothing that is left over",
  async () => {
    const checkout = clone("packed");
    const pack = (...args: readonly string[]) =>
      execFileSync("npm", ["pack", "--json", ...args], { cwd: checkout, encoding: "utf8", stdio: "pipe" });
    mkdirSync(join(checkout, "dist/web-left"), { recursive: true });
    writeFileSync(join(checkout, "dist/web-left/page.txt"), "left by a build that was ended\n");
    const [{ filename, files }] = JSON.parse(pack());
    const paths: readonly string[] = files.map(({ path }: { readonly path: string }) => path);
    expect(paths.filter((path) => /^(web|src|tools)\//.test(path))).toEqual([]);
    expect(paths.filter((path) => path.includes("web-left"))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        "dist/web/index.html",
        "dist/web/index.html.br",
        "dist/web/assets/licences.txt",
      ]),
    );
    const installed = join(folder, "installed");
    mkdirSync(installed);
    execFileSync("tar", ["-xzf", join(checkout, filename), "-C", installed]);
    const kibitz = join(installed, "package");
    symlinkSync(join(here, "node_modules"), join(kibitz, "node_modules"));
    expect(scriptIn(await pageOfPackage(kibitz))).toContain("/assets/");
  },
  3 * buildMaxMs,
);

/** As `kibitz serve` there answers a browser. */
async function pageOfPackage(kibitz: string): Promise<string> {
  const env = { ...quickestSettings, KIBITZ_PAGE: "on", KIBITZ_DATA_DIR: join(kibitz, "data") };
  const child = spawn(process.execPath, [join(kibitz, "bin/kibitz.js"), "serve"], { env, stdio: "pipe" });
  const ended = once(child, "close");
  try {
    for await (const line of createInterface(child.stdout)) {
      const url = /"url":"(http:[^"]+)"/.exec(line)?.[1];
      if (url !== undefined) {
        return await (await fetch(url, { headers: { accept: "text/html" } })).text();
      }
    }
    throw new Error("the package did not serve");
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}
