import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "../support/find-browser.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { buildPage } from "./support/build-page.ts";
import { serveChromium } from "./support/launch-chromium.ts";

/** Chromium and a service for all test files. Starting both for each file would take longer than the tests. */
interface SharedPage {
  readonly chromium: string;
  /** The address of a service without limits, such as `http://127.0.0.1:4711`. */
  readonly url: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Defined only in `npm run lane -- page`. */
    readonly sharedPage: SharedPage | undefined;
  }
}

/**
 * Builds the page, and starts Chromium and the service for all test files. The returned function throws if the service ends
 * with an error.
 */
export default async function startSharedPage(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (findChromium() === undefined) {
    return undefined;
  }
  await buildPage();
  const dataDir = mkdtempSync(join(tmpdir(), "kibitz-page-"));
  const settings = { ...quickestSettings, KIBITZ_PAGE: "on", KIBITZ_DATA_DIR: dataDir };
  const [server, chromium] = await Promise.all([startServer(settings), serveChromium()]);
  project.provide("sharedPage", { chromium: chromium.wsEndpoint(), url: server.url });
  return async () => {
    await chromium.close();
    const code = await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
    if (code !== 0 || server.complaints.length > 0) {
      throw new Error(`the service ended with ${code}, and complained: ${server.complaints.join("\n")}`);
    }
  };
}
