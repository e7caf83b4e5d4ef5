import { testWith } from "../../../support/needs.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { expectAlertsFire } from "./promtool.ts";
import { longStories } from "./stories.ts";

const folder = useTemporaryFolder();

testWith("prometheus")("alerts fire as they should in every story of days", () => {
  expectAlertsFire(longStories, "5m", folder);
});
