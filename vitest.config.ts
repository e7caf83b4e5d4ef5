import { defineConfig } from "vitest/config";
import { isLaneName, lanes, projectOf, quickLanes } from "./test/support/lanes.ts";
import { createResultReporter } from "./test/support/test-result.ts";

/** `npm run lane` sets this variable. Without it, vitest runs the lanes of `npm test`. */
const { TEST_LANE } = process.env;

function lanesToRun() {
  if (TEST_LANE === undefined) {
    return quickLanes;
  }
  if (!isLaneName(TEST_LANE) || lanes[TEST_LANE].isProgram) {
    throw new Error(
      `TEST_LANE=${TEST_LANE} is not a lane that vitest runs: \`npm run lane\` lists the lanes`,
    );
  }
  return [TEST_LANE];
}

/** Every lane is a project. The table in `test/support/lanes.ts` says how each lane runs. */
export default defineConfig({
  test: {
    reporters: ["default", createResultReporter()],
    projects: lanesToRun().map(projectOf),
  },
});
