import { describeWith } from "../support/needs.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { usePage } from "./support/open-page.ts";
import { testAccessibility } from "./support/test-accessibility.ts";

describeWith("chromium")("the page on a wide screen", () => {
  // As everybody is limited, but for how often.
  const plans = usePlansFile({ id: "keyless", limits: { rates: [] } });
  testAccessibility(usePage({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }), { width: 1280, height: 800 });
});
