import { describeWith } from "../support/needs.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { usePage, useService } from "./support/open-page.ts";
import { testAccessibility } from "./support/test-accessibility.ts";

describeWith("chromium")("the page on a wide screen", () => {
  // As everybody is limited, but for how often.
  const plans = usePlansFile({ id: "keyless", limits: { rates: [] } });
  const kibitz = usePage(useService({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }));
  testAccessibility(kibitz, { width: 1280, height: 800 });
});
