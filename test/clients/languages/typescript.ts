import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildIfStale } from "../build-if-stale.ts";
import type { Language } from "../language.ts";
import { cacheOf, examplesOf, probeOf, protoFiles } from "../places.ts";
import { runProgram } from "../run-program.ts";

const cwd = examplesOf("typescript");
const node = process.execPath;
const required = join(cwd, "package-lock.json");
const installed = join(cwd, "node_modules/package-lock.json");

/** connect-web in Chromium, connect-node and @grpc/grpc-js. The probes are made of this project's own code. */
export const typescript: Language = {
  name: "typescript",

  needs: ["chromium"],

  async build() {
    if ((await readFile(required, "utf8")) !== (await readFile(installed, "utf8").catch(() => undefined))) {
      await runProgram(["npm", "ci"], { cwd });
      await copyFile(required, installed);
    }
    await buildIfStale({
      stamp: join(cacheOf("typescript"), "built"),
      sources: [protoFiles, installed, join(cwd, "{*.json,*.yaml,*.ts,web/*.ts}")],
      products: [join(cwd, "gen"), join(cwd, "web/dist/main.js")],
      async build() {
        for (const script of ["generate", "types", "bundle"]) {
          await runProgram(["npm", "run", script], { cwd });
        }
      },
    });
  },

  examples: [
    {
      name: "typescript: connect-web in Chromium",
      command: [node, join(probeOf("typescript"), "open-page.ts")],
      cwd,
    },
    { name: "typescript: connect-node", command: [node, "connect-node.ts"], cwd },
    { name: "typescript: @grpc/grpc-js", command: [node, "grpc-js.ts"], cwd },
  ],

  probes: [
    { name: "node-connect", command: [node, join(probeOf("typescript"), "node-connect.ts")], cwd },
    { name: "node-grpc-js", command: [node, join(probeOf("typescript"), "node-grpc-js.ts")], cwd },
  ],
};
