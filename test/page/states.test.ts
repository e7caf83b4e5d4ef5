import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { usePage, useServiceInProcess } from "./support/open-page.ts";
import { faultsInStates } from "./support/test-accessibility.ts";

describeWith("chromium")("the states of the page", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public" }));

  // The nightly run tests a wider window.
  test("the page passes the accessibility test axe on a telephone with each dialog, message and panel open, in light and dark colours", async () => {
    expect(await faultsInStates(kibitz, { width: 360, height: 740 })).toEqual([]);
  });
});
