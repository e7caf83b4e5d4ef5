import { testWith } from "../../../support/needs.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { expectAlertsFire } from "./promtool.ts";
import { longStories, stories } from "./stories.ts";

const folder = useTemporaryFolder();

testWith("prometheus")(
  "every alert fires and clears at the expected times in scenarios of several days",
  () => {
    expectAlertsFire(longStories, "5m", folder);
  },
);

testWith("prometheus")(
  "every alert fires and clears at the expected times in scenarios of several hours",
  () => {
    expectAlertsFire(stories, "1m", folder);
  },
);
