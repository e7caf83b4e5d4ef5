import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandOfWasm } from "../../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { testWith } from "../support/needs.ts";
import { buildOf } from "./build-of.ts";
import { linesOf } from "./lines-of.ts";
import { createFolder } from "./write-script.ts";

/** Runs a program with the restrictions of an engine. Returns the output. */
async function runAsEngine(source: string): Promise<readonly string[]> {
  const file = join(createFolder(), "engine.js");
  writeFileSync(
    file,
    `const attempt = async (act) => {
    try { await act(); console.log("done"); } catch (error) { console.log(error.code); }
  };
  ${source}`,
  );
  const engine = createChildProcess(commandOfWasm(buildOf({ file }), noSandbox));
  onTestFinished(() => engine.kill());
  return linesOf(engine);
}

const denied = ["ERR_ACCESS_DENIED"];

test("a sandboxed engine can read its own folder", async () => {
  expect(await runAsEngine("attempt(() => require('fs').readFileSync(__filename))")).toEqual(["done"]);
});

test.each([
  ["read other files", "require('fs').readFileSync('/etc/hostname')"],
  ["write into its own folder", "require('fs').writeFileSync(__dirname + '/x', '')"],
  ["start programs", "require('child_process').execFileSync('/bin/true')"],
  ["start threads", "new (require('worker_threads').Worker)('', { eval: true })"],
])("a sandboxed engine cannot %s", async (_, act) => {
  expect(await runAsEngine(`attempt(() => ${act})`)).toEqual(denied);
});

test("a sandboxed engine cannot open databases", async () => {
  expect(await runAsEngine("attempt(() => require('node:sqlite'))")).toEqual(["ERR_UNKNOWN_BUILTIN_MODULE"]);
});

// Before version 25, the permission model of Node does not restrict the network.
testWith("node 25")("a sandboxed engine cannot open network connections", async () => {
  const connect = `new Promise((resolve, reject) =>
    require('net').connect(9, '127.0.0.1').on('connect', resolve).on('error', reject))`;
  expect(await runAsEngine(`attempt(() => ${connect})`)).toEqual(denied);
});
