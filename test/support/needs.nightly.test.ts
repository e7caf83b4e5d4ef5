import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { asRoot } from "./components.ts";
import { everyNativeStockfish } from "./native-stockfish.ts";
import { testWith } from "./needs.ts";
import { useTemporaryFolder } from "./temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");

async function run(command: readonly string[], env: Readonly<Record<string, string>>) {
  // The lane of this test does not contain the tests that are run here.
  const { CI: _, TEST_LANE: __, ...rest } = process.env;
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { ...rest, ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[status], stdout, stderr] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { status: status as number | null, said: stdout + stderr };
}

/** Returns a command prefix. The command runs without access to the program files in the list. */
const without = (files: readonly string[]): readonly string[] => {
  const hide = files.map((file) => `mount --bind /dev/null '${file}' && `).join("");
  return ["unshare", ...asRoot(), "--mount", "sh", "-c", `${hide}exec "$@"`, "sh"];
};

testWith("namespaces").concurrent.each([
  [{}, 0],
  [{ CI: "true" }, 1],
])(
  "a test run with the environment %j on a machine that lacks a component says how to install the component, and exits with %i",
  async (env, code) => {
    const tests = [process.execPath, vitest, "run", "test/engine/wrapper-script.test.ts"];
    const { status, said } = await run([...without(everyNativeStockfish()), ...tests], env);
    expect(said.match(/no native Stockfish \(Debian: apt-get install stockfish\)/g)).toHaveLength(1);
    expect(status).toBe(code);
  },
);

const folder = useTemporaryFolder();

const left = ["sk", "ip"].join("");
writeFileSync(join(folder, "x.test.js"), `test("runs", () => {}); test("does not", (at) => at.${left}());`);
const config = {
  globals: true,
  globalSetup: join(import.meta.dirname, "require-components.ts"),
  provide: { needs: [] },
};
writeFileSync(join(folder, "vitest.config.js"), `export default { test: ${JSON.stringify(config)} };`);

test.concurrent.each([
  [{}, 0],
  [{ CI: "true" }, 1],
])(
  "a test run with the environment %j, in which a test is skipped although no component is missing, exits with %i",
  async (env, code) => {
    const { status, said } = await run([process.execPath, vitest, "run", "--root", folder], env);
    expect(said.match(/in CI nothing may be:\n.*x\.test\.js: does not/g) ?? []).toHaveLength(code);
    expect(status).toBe(code);
  },
);

testWith("namespaces", "native").concurrent("every missing package is installed by .ci/run", async () => {
  const script = [process.execPath, join(import.meta.dirname, "missing-packages.ts")];
  const packages = async (command: readonly string[]) => (await run(command, {})).said.split(/\s+/);
  const [here, missing] = await Promise.all([
    packages(script),
    packages([...without(everyNativeStockfish()), ...script]),
  ]);
  expect(here).not.toContain("stockfish");
  expect(missing).toContain("stockfish");
});
