/**
 * Runs the tests of one lane. Usage: `npm run lane -- slow`, or `npm run lane -- slow test/slow/cli` for some files of it. What
 * follows the name is passed to vitest, or to the program that runs the lane. Without a name, lists the lanes.
 */
import { fileURLToPath } from "node:url";
import { components } from "../test/support/components.ts";
import { isLaneName, laneNames, lanes } from "../test/support/lanes.ts";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

function listOfLanes(): string {
  return laneNames
    .map((name) => {
      const needs = lanes[name].needs.map((need) => components[need].name).join("; ");
      return `  ${name.padEnd(10)}  ${lanes[name].about}\n${" ".repeat(14)}needs ${needs || "nothing else"}`;
    })
    .join("\n");
}

const [name = "", ...args] = process.argv.slice(2);
if (!isLaneName(name)) {
  const complaint = name === "" ? "" : `no lane is called ${name}\n`;
  console.error(
    `${complaint}Usage: npm run lane -- <lane> [<files or options>]. \`npm test\` runs unit and service.\n${listOfLanes()}`,
  );
  process.exit(2);
}
const { isProgram, files } = lanes[name];
const command = isProgram ? files : [vitest, "run"];
if (process.execve === undefined) {
  throw new Error("Node cannot replace this process on this operating system: use Linux or macOS");
}
// Replace this process, so that Ctrl-C waits for the end of the tests.
process.execve(process.execPath, [process.execPath, ...command, ...args], {
  ...process.env,
  ...(!isProgram && { TEST_LANE: name }),
});
