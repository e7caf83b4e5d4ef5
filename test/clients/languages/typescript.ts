import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { buildOnce, copySources, sourcesOf } from "../../support/build-once.ts";
import type { Language } from "../language.ts";
import { placeOf, probeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const place = placeOf("typescript");
const cwd = place.example;
const node = process.execPath;
const packages = sourcesOf(
  "client-typescript-packages",
  ...["package.json", "package-lock.json", ".npmrc"].map((file) => `examples/typescript/${file}`),
);

/** The clients are connect-web in Chromium, connect-node and @grpc/grpc-js. */
export const typescript: Language = {
  name: "typescript",

  needs: ["chromium"],

  async build() {
    await buildOnce(packages.folder, async (folder) => {
      await copySources(packages, folder);
      await runProgram(["npm", "ci"], { cwd: join(folder, "examples/typescript") });
    });
    await buildOnce(place.folder, async (folder) => {
      await copySources(place, folder);
      const example = join(folder, "examples/typescript");
      await symlink(join(packages.folder, "examples/typescript/node_modules"), join(example, "node_modules"));
      for (const script of ["generate", "types", "bundle"]) {
        await runProgram(["npm", "run", script], { cwd: example });
      }
    });
  },

  examples: [
    {
      name: "typescript: connect-web in Chromium",
      command: [node, join(probeOf("typescript"), "open-page.ts"), join(cwd, "web")],
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
