import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withClipboard } from "./analysis-page.ts";
import type { UsedPage } from "./open-page.ts";
import { scenes } from "./scenes.ts";
import { states } from "./states.ts";

/** @param limited a service that allows one request per minute */
export function testAccessibility(kibitz: UsedPage, limited: UsedPage, size: Size): void {
  test.each(scenes)(
    `the page passes the accessibility test axe at ${size.width} px in light and dark colours, and needs no sideways scrolling: $name`,
    async ({ address, reach, isLimited }) => {
      const page = await (isLimited ? limited : kibitz).open({
        address,
        size,
        reducedMotion: true,
        ownTab: true,
      });
      await reach(page);
      await page.evaluate(axe.source);
      expect(await faultsOf(page, size)).toEqual([]);
    },
  );
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Goes through all states on one page. */
export async function faultsInStates(kibitz: UsedPage, size: Size): Promise<readonly string[]> {
  const page = await kibitz.open({
    address: "#moves=e4&depth=2",
    size,
    ownTab: true,
    reducedMotion: true,
    provoked: /ERR_INTERNET_DISCONNECTED/,
    ...withClipboard,
  });
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const [name, reach] of states) {
    await reach(page);
    found.push(...(await faultsOf(page, size)).map((fault) => `${name}: ${fault}`));
  }
  return found;
}

async function faultsOf(page: Page, { width }: Size): Promise<readonly string[]> {
  const light = await violationsIn(page, {});
  await page.emulateMedia({ colorScheme: "dark" });
  // Only these rules depend on colours.
  const dark = await violationsIn(page, { runOnly: ["color-contrast", "link-in-text-block"] });
  await page.emulateMedia({ colorScheme: "light" });
  const needed = await page.evaluate<number>("document.documentElement.scrollWidth");
  return [
    ...light,
    ...dark.map((violation) => `in dark colours: ${violation}`),
    ...(needed > width ? [`the page needs ${needed} px`] : []),
  ];
}

/** Returns one line for each violation. The page must have evaluated `axe.source` before. */
export async function violationsIn(page: Page, options: axe.RunOptions): Promise<readonly string[]> {
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
