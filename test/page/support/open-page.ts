import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type WebError,
} from "playwright-core";
import { afterAll, beforeAll, expect, inject, onTestFinished } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useApp } from "../../support/running-app.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { buildPage } from "./build-page.ts";
import { launchChromium } from "./launch-chromium.ts";

export interface UsedPage {
  /** The address of the service, such as `http://127.0.0.1:4711`. Available only while tests run. */
  readonly url: string;
  readonly browser: Browser;
  /**
   * Opens the page with an empty storage, and closes the page after the test. The test fails if the browser logged an error or
   * a warning.
   */
  open(options?: OpenOptions): Promise<Page>;
}

export interface OpenOptions {
  /** Appended to the address of the service, for example `#review`. */
  readonly address?: string;
  /** The address of a proxy in front of the service, with a final slash. */
  readonly base?: string;
  /** Size of the window; 1280 by 800 by default. */
  readonly size?: { readonly width: number; readonly height: number };
  readonly colours?: "light" | "dark";
  readonly reducedMotion?: boolean;
  readonly context?: BrowserContextOptions;
  /** Matches the console errors that the test provokes. Any other error fails the test. */
  readonly provoked?: RegExp;
  /**
   * Opens a new tab and browser context. Required by tests that need an empty cache, or that change the clock, network, speed
   * or media of a tab.
   */
  readonly ownTab?: boolean;
  readonly prepare?: (page: Page) => Promise<void> | void;
}

/**
 * @param service the page's service. The default is {@link useSharedService}.
 * @param launch starts the browser. The default is the Chromium of all test files.
 */
export function usePage(
  service: { readonly url: string } = useSharedService(),
  launch: () => Promise<Browser> = useChromium,
): UsedPage {
  let browser: Browser | undefined;
  const tabs = new Map<string, Page>();

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    for (const tab of tabs.values()) {
      await tab.context().close();
    }
    await browser?.close();
  });

  const running = () => browser ?? expect.fail("the browser is there only while tests run");
  return {
    get url() {
      return service.url;
    },
    get browser() {
      return running();
    },
    async open({
      address = "",
      base = `${service.url}/`,
      prepare,
      provoked,
      ownTab = false,
      ...options
    } = {}) {
      const wanted = contextOptions(options);
      const name = JSON.stringify(wanted);
      const used = ownTab ? undefined : tabs.get(name);
      if (used !== undefined) {
        tabs.delete(name);
      }
      const page = used ?? (await (await running().newContext(wanted)).newPage());
      const context = page.context();
      // This timeout is long enough for a busy machine.
      context.setDefaultTimeout(120_000);
      const noted = noteComplaints(context);
      onTestFinished(async ({ task }) => {
        const isKept =
          !ownTab &&
          task.result?.state !== "fail" &&
          !tabs.has(name) &&
          (await isAsNew(page).catch(() => false));
        noted.stop();
        if (isKept) {
          tabs.set(name, page);
        } else {
          await context.close();
        }
        const unexpected = noted.complaints.filter((complaint) => !provoked?.test(complaint));
        expect(unexpected, "the page complained").toEqual([]);
      });
      await prepare?.(page);
      await page.goto(base + address);
      await page.getByRole("main").waitFor();
      return page;
    },
  };
}

function useChromium(): Promise<Browser> {
  const shared = inject("sharedPage");
  return shared === undefined ? launchChromium() : chromium.connect(shared.chromium);
}

/** Returns the service that `npm run lane -- page` starts for all test files. In another lane, starts a service for this file. */
export function useSharedService(): { readonly url: string } {
  return inject("sharedPage") ?? useService({});
}

/**
 * Starts a service in this process, with simulated engines. A search reaches depth 19 at once. A deeper search runs until it is
 * stopped.
 */
export function useServiceInProcess(env: Readonly<Record<string, string>>): { readonly url: string } {
  beforeAll(buildPage);
  return useApp({ KIBITZ_PAGE: "on", ...env }, { engines: createEnginesInProcess() });
}

/**
 * Starts a service with real engines in a new process.
 *
 * @param env overrides the settings for a quick start
 */
export function useService(env: Readonly<Record<string, string>>): { readonly url: string } {
  let server: Server | undefined;
  const dataDir = useTemporaryFolder();
  beforeAll(async () => {
    await buildPage();
    server = await startServer({ ...quickestSettings, KIBITZ_PAGE: "on", KIBITZ_DATA_DIR: dataDir, ...env });
  });
  afterAll(async () => void (await server?.stop()));
  return {
    get url() {
      return server?.url ?? expect.fail("the service is there only while tests run");
    },
  };
}

/**
 * Resets the tab for the next test. Reusing a tab takes half the processor time of opening a new tab.
 * @returns false if the tab contains stored data, or if its browser context has another tab
 */
async function isAsNew(page: Page): Promise<boolean> {
  const kept = await page.evaluate<number>(
    "localStorage.length + sessionStorage.length + document.cookie.length",
  );
  if (kept > 0 || page.context().pages().length > 1) {
    return false;
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  for (const event of ["request", "requestfailed", "response"]) {
    page.removeAllListeners(event);
  }
  return true;
}

function contextOptions({
  size = { width: 1280, height: 800 },
  colours = "light",
  reducedMotion = false,
  context,
}: OpenOptions): BrowserContextOptions {
  return {
    viewport: size,
    colorScheme: colours,
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
    ...context,
  };
}

function noteComplaints(context: BrowserContext) {
  const complaints: string[] = [];
  const noteError = (error: WebError) => void complaints.push(error.error().stack ?? String(error.error()));
  const noteMessage = (message: ConsoleMessage) => {
    if (["error", "warning"].includes(message.type()) && !isRefusedCall(message)) {
      complaints.push(message.text());
    }
  };
  context.on("weberror", noteError).on("console", noteMessage);
  const stop = () => void context.off("weberror", noteError).off("console", noteMessage);
  return { complaints, stop };
}

/**
 * Returns true for Chromium's message about a failed API call. Such a message is no bug, because the page shows the error to
 * the user.
 */
function isRefusedCall(message: ConsoleMessage): boolean {
  return (
    message.text().startsWith("Failed to load resource") &&
    new URL(message.location().url).pathname.includes("/chess.analysis.v1.")
  );
}
