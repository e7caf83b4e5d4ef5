import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { UsedPage } from "./open-page.ts";
import { scenes } from "./scenes.ts";

/** @param limited a service that allows one request per minute */
export function testAccessibility(
  kibitz: UsedPage,
  limited: UsedPage,
  size: { readonly width: number; readonly height: number },
): void {
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
      expect(await violationsIn(page, {}), "light").toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      // Only these rules depend on colours.
      expect(await violationsIn(page, { runOnly: ["color-contrast", "link-in-text-block"] }), "dark").toEqual(
        [],
      );
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(size.width);
    },
  );
}

/** Returns one line for each violation. The page must have evaluated `axe.source` before. */
export async function violationsIn(page: Page, options: axe.RunOptions): Promise<readonly string[]> {
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
