/** Exits with 1 if another project owns the npm package `kibitz-chess`, which the documents tell users to install. */
import { spawnSync } from "node:child_process";
import { styleText } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { recordResult } from "../test/support/test-result.ts";

interface Viewed {
  readonly mcpName?: string;
  readonly version?: string;
  readonly description?: string;
  readonly error?: { readonly code: string; readonly summary: string };
}

const { name, mcpName } = manifest;
const { stdout } = spawnSync("npm", ["view", name, "--json", "--fetch-retries=0"], { encoding: "utf8" });
const { error, ...found }: Viewed = JSON.parse(stdout || "{}");

if (error?.code === "E404") {
  console.log(`npm name ${name}: free`);
} else if (error || found.version === undefined) {
  const why = `the registry did not answer: ${error?.summary ?? "no output"}`;
  console.log(styleText("yellow", `npm name ${name}: not checked, ${why}`));
  recordResult({
    file: "tools/package-owner.ts",
    name: "the package name is ours",
    state: "not checked",
    ms: 0,
  });
} else if (found.mcpName === mcpName) {
  console.log(`npm name ${name}: ours, newest version ${found.version}`);
} else {
  console.error(
    `npm name ${name}: belongs to another project (${found.version}: ${JSON.stringify(found.description)}; its mcpName is not ` +
      `${mcpName}). Rename our package, in the documents too.`,
  );
  process.exitCode = 1;
}
