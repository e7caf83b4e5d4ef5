import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { packableCheckout } from "../../support/packable-checkout.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const buildMaxMs = 200_000;

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
const reportOfBuild = async ({ log }: Started) => {
  await expect
    .poll(() => log.join("\n"), { timeout: buildMaxMs })
    .toMatch(/the page (was built|could not be)/);
  return log.find((line) => line.includes("the page"));
};
const scriptIn = (page: string) => /src="\.(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "no script";

describe("a checkout without a built web page", () => {
  test(
    "a server in a checkout builds the web page after its first start, and again only after a source file has changed",
    async () => {
      const checkout = clone("built");
      const [old, recent] = [join(checkout, "dist/.web-killed"), join(checkout, "dist/.web-building")];
      for (const left of [old, recent]) {
        mkdirSync(left, { recursive: true });
        writeFileSync(join(left, "index.html"), "half");
      }
      const hourAgo = new Date(Date.now() - 3_600_000);
      utimesSync(old, hourAgo, hourAgo);
      const both = await Promise.all([start(checkout), start(checkout)]);
      expect(await pageOf(both[0])).toContain("being built");
      // Wait for both builds: while the second one replaces the page, the first server may have no page for a moment.
      for (const started of both) {
        expect(await reportOfBuild(started)).toContain("was built");
      }
      for (const started of both) {
        const path = scriptIn(await pageOf(started));
        const script = await fetch(started.server.url + path);
        expect([path, script.status]).toEqual([expect.stringMatching(/^\/assets\//), 200]);
        await started.server.stop();
      }
      // The server deletes the folder of a build that was killed long ago, but not a recent one, which may still be in use.
      expect(readdirSync(join(checkout, "dist")).toSorted()).toEqual([".web-building", "web"]);
      const app = join(checkout, "web/src/app.tsx");
      writeFileSync(app, readFileSync(app, "utf8").replace(">Kibitz<", ">Saved<"));
      const again = await start(checkout);
      expect(await reportOfBuild(again)).toContain("was built");
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
    "a server that cannot build the web page logs the reason and keeps answering requests",
    async () => {
      const checkout = clone("broken");
      writeFileSync(join(checkout, "web/src/main.tsx"), 'import "./gone.ts";\n');
      const started = await start(checkout);
      expect(await reportOfBuild(started)).toMatch(/"error":"[^"]*gone\.ts/);
      expect(await pageOf(started)).toContain("node tools/build-page.ts");
      expect(await (await fetch(started.server.url)).text()).toContain("Try:");
      expect((await fetch(`${started.server.url}/readyz`)).status).toBe(200);
    },
    3 * buildMaxMs,
  );
});

describe("an interrupted build of the web page", () => {
  const leftIn = (checkout: string) =>
    readdirSync(join(checkout, "dist")).filter((name) => name.startsWith(".web-"));
  const build = (checkout: string) =>
    spawn(process.execPath, ["tools/build-page.ts"], { cwd: checkout, stdio: "ignore" });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "a build of the web page that is interrupted by %s leaves no files behind",
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

  test("a build of the web page by a user without rights begins at the lowest priority too", async () => {
    const checkout = clone("nice");
    mkdirSync(join(checkout, "dist"));
    // Root may raise its priority, so it gives up this right.
    const asUser = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-sys_nice"] : [];
    const command = ["nice", "-n", "19", ...asUser, process.execPath, "tools/build-page.ts"];
    const child = spawn("env", command, { cwd: checkout, stdio: "ignore" });
    const ended = once(child, "exit");
    await expect.poll(() => leftIn(checkout), { interval: 5, timeout: buildMaxMs }).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
  });
});
