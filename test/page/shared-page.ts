import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "../support/find-chromium.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { buildPage } from "./support/build-page.ts";
import { serveChromium } from "./support/launch-chromium.ts";

/** The browser and the service of all files of the lane, because to start it for each of them would take longer than their tests. */
export interface SharedPage {
  /** The WebSocket of the Chromium. */
  readonly chromium: string;
  /** A service that anybody may ask, without limits: `http://127.0.0.1:4711`. */
  readonly url: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Only in the lane of the page. */
    readonly sharedPage: SharedPage | undefined;
  }
}

/** Builds the page, and starts Chromium and the service for the whole run. Throws if the service does not stop with 0 at the end. */
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
