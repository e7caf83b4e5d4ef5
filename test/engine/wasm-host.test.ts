import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFastBuild } from "../../src/engine/backends/wasm/fast.ts";
import { commandOfWasm } from "../../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { testWith } from "../support/needs.ts";
import { buildOf } from "./build-of.ts";
import { linesOf } from "./lines-of.ts";
import { moduleWithData } from "./module-with-data.ts";
import { createFolder } from "./write-script.ts";

const digestOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
const network = { address: 1024, bytes: 5, sha256: createHash("sha256").update("brain").digest("hex") };

/** Runs `hostile-module.js` in the host, and sends the command `attack`. Returns the output. */
async function runHost({
  nodes = 7,
  sha256 = network.sha256,
  alongside = undefined as string | undefined,
  withoutPermissions = false,
} = {}): Promise<readonly string[]> {
  const folder = createFolder();
  const [module, wasm, container] = ["module.mjs", "module.wasm", "network.wasm"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  copyFileSync(new URL("hostile-module.js", import.meta.url), module);
  writeFileSync(wasm, "");
  writeFileSync(container, moduleWithData([{ address: 1024, bytes: Buffer.from("brain") }]));
  const pin = { digested: digestOf(wasm), alongside: alongside ?? digestOf(module) };
  const build = await createFastBuild(
    buildOf({ selfTestNodes: nodes }),
    container,
    { package: "", module: "", pin, network: { ...network, sha256 } },
    [module, wasm],
    noSandbox,
  );
  const { file, args } = commandOfWasm(build, noSandbox);
  const engine = createChildProcess({
    file,
    args: withoutPermissions ? args.filter((arg) => !/^--(permission|allow)/.test(arg)) : args,
  });
  onTestFinished(() => engine.kill());
  engine.send("attack");
  return linesOf(engine);
}

// `process.permission.drop` exists since Node 26.
testWith("node 25")(
  "an engine in the host can read no file and start no thread after its start, in the first thread and in the search thread",
  async () => {
    const denied = ["read", "thread", "free thread", "write"]
      .map((name) => `${name} ERR_ACCESS_DENIED`)
      .join();
    expect(await runHost()).toEqual([`main: ${denied}`, `thread: ${denied}`]);
  },
);

test.each([
  [
    "visits another number of nodes in the self-test",
    { nodes: 8 },
    "the self-test visited 7 nodes instead of 8",
  ],
  [
    "is another file than the pinned file",
    { alongside: "0" },
    "module.mjs is not the file that this version of Kibitz knows",
  ],
  ["gets another network", { sha256: "0" }, `the network has the SHA-256 ${network.sha256} instead of 0`],
  [
    "runs in a Node without process.permission.drop",
    { withoutPermissions: true },
    "has no process.permission.drop",
  ],
])("the host refuses an engine that %s, and prints the reason", async (_, changes, reason) => {
  expect(await runHost(changes)).toEqual([expect.stringMatching(`^info string refused: .*${reason}`)]);
});
