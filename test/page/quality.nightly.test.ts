import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { usePage, useService, useServiceInProcess } from "./support/open-page.ts";
import { faultsInStates, testAccessibility } from "./support/test-accessibility.ts";

describeWith("chromium")("the page on a narrow and on a wide screen", () => {
  // The default limits of callers without a key, except that the request rate is not limited.
  const plans = usePlansFile({ id: "keyless", limits: { rates: [] } });
  const kibitz = usePage(useService({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }));
  const few = usePlansFile({ id: "keyless", limits: { rates: [rateOf("minute", 1, 60)] } });
  const limited = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: few }));
  testAccessibility(kibitz, limited, { width: 320, height: 640 });
  testAccessibility(kibitz, limited, { width: 1280, height: 800 });

  const open = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public" }));
  test("the page passes the accessibility test axe on a wide screen with each dialog, message and panel open, in light and dark colours", async () => {
    expect(await faultsInStates(open, { width: 1280, height: 800 })).toEqual([]);
  });
});
