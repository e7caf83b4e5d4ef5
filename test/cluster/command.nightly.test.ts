import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { describeWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { grpcCaller, jsonCaller } from "./traffic.ts";

const program = fileURLToPath(new URL("../../tools/cluster/cluster.ts", import.meta.url));

function start(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGTERM"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      printed += text;
    });
  }
  return { child, printed: () => printed, ended: once(child, "close") };
}

describeWith("redis", "haproxy")("npm run cluster", () => {
  test("npm run cluster starts a working cluster, prints a command to call it, and ends all processes on Ctrl-C", async () => {
    const { KIBITZ_PORT: _, KIBITZ_ACCESS: _open, ...settings } = quickestSettings;
    const { child, printed, ended } = start({ PATH: process.env.PATH, ...settings });
    await vi.waitFor(() => expect(printed()).toContain("Ask it:"), 120_000);
    const [, url = ""] = /^(http:\S+) is HAProxy/m.exec(printed()) ?? [];
    expect(printed().match(/^ {2}node\d {2}http:/gm)).toHaveLength(3);
    const question = { fen: "startpos", depth: 4 };
    using grpc = grpcCaller(url);
    const [asJson] = await Promise.all([jsonCaller(url)(question), grpc(question)]);
    expect(asJson).toMatch(/^[a-h][1-8]/);
    // Run the command that `npm run cluster` has printed.
    const [, curl = ""] = /^ {2}(curl -s .+)$/m.exec(printed()) ?? [];
    const asked = spawn("sh", ["-c", curl], { stdio: ["ignore", "pipe", "inherit"] });
    const [answer] = await once(asked.stdout, "data");
    expect(JSON.parse(String(answer))).toMatchObject({ search: { depth: 12 } });

    // In public mode, callers without a key may make fewer concurrent calls.
    const many = await Promise.all(Array.from({ length: 20 }, () => jsonCaller(url)(question)));
    expect(new Set(many)).toEqual(new Set([asJson]));

    const [, name = "", pid = ""] = /^ {2}(node\d) {2}http:\S+ {2}process (\d+)$/m.exec(printed()) ?? [];
    process.kill(Number(pid), "SIGKILL");
    await vi.waitFor(
      () => expect(printed()).toMatch(new RegExp(`^${name} is gone; it stays so`, "m")),
      20_000,
    );
    expect(await jsonCaller(url)(question)).toBe(asJson);

    const all = descendantsOf(child.pid ?? 0);
    expect(all.length).toBeGreaterThanOrEqual(6);
    child.kill("SIGINT");
    expect((await ended)[0]).toBe(0);
    expect(stillRunning(all)).toEqual([]);
  });

  test("npm run cluster prints which programs are missing and how to install them", async () => {
    const { printed, ended } = start({ PATH: "" });
    expect((await ended)[0]).toBe(1);
    expect(printed()).toContain("apt-get install redis-server");
    expect(printed()).toContain("apt-get install haproxy");
  });

  test("npm run cluster refuses a port above 65535", async () => {
    const { printed, ended } = start({ PATH: "" }, "--port", "70000");
    expect((await ended)[0]).toBe(2);
    expect(printed()).toContain("--port");
  });
});
