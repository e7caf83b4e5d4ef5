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

/** The page of a service in a real Chromium, for the tests of a file. */
export interface UsedPage {
  /** The address of the service while tests run: `http://127.0.0.1:4711`. */
  readonly url: string;
  readonly browser: Browser;
  /**
   * Opens the page as a new user does, without anything kept. It is closed when the test ends, which fails if the page has
   * complained until then.
   */
  open(options?: OpenOptions): Promise<Page>;
}

export interface OpenOptions {
  /** Behind the address of the service: `#review`. */
  readonly address?: string;
  /** The address of a proxy in front of the service, with a `/` at its end. By default the service itself. */
  readonly base?: string;
  /** The window; 1280 by 800 by default. */
  readonly size?: { readonly width: number; readonly height: number };
  readonly colours?: "light" | "dark";
  readonly reducedMotion?: boolean;
  /** More options of the browser context. */
  readonly context?: BrowserContextOptions;
  /** Matches the console errors that the test provokes. Any other error fails the test. */
  readonly provoked?: RegExp;
  /**
   * True for a tab and browser context of its own. Needed by tests that change the clock, network, speed or media of a tab, or that
   * need an empty browser cache.
   */
  readonly ownTab?: boolean;
  /** Called before the page is loaded, to set routes and listeners. */
  readonly prepare?: (page: Page) => Promise<void> | void;
}

/** @param service the one that all files share, unless given. Lanes other than the page's own have none. */
export function usePage(service: { readonly url: string } = sharedService): UsedPage {
  let browser: Browser | undefined;
  const tabs = new Map<string, Page>();

  beforeAll(async () => {
    const shared = inject("sharedPage");
    browser = await (shared === undefined ? launchChromium() : chromium.connect(shared.chromium));
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
      // On a busy machine, too: only a page that hangs comes to it.
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

const sharedService = {
  get url() {
    return inject("sharedPage")?.url ?? expect.fail("this lane has no service for all files");
  },
};

/** Starts a service in this process for the tests of a file. Its engines answer at once, and search on beyond depth 19. */
export function useServiceInProcess(env: Readonly<Record<string, string>>): { readonly url: string } {
  return useApp({ KIBITZ_PAGE: "on", ...env }, { engines: createEnginesInProcess() });
}

/** Starts a service with real engines, in a process of its own, for the tests of a file. @param env settings over those that start quickest. */
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
 * Leaves the page. To open it in the same tab takes half the processor time of a new one.
 *
 * @returns whether the next user finds the tab as if nobody had used it
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

/** Errors of scripts, breaches of the policy, and whatever else a browser writes as an error or a warning. */
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

/** Chromium writes every answer that is an error; of calls, the page tells them itself. */
function isRefusedCall(message: ConsoleMessage): boolean {
  return (
    message.text().startsWith("Failed to load resource") &&
    new URL(message.location().url).pathname.includes("/chess.analysis.v1.")
  );
}
