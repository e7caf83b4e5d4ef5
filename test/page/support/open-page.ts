import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { buildPage } from "./build-page.ts";
import { launchChromium } from "./launch-chromium.ts";

/** The page of a real service in a real Chromium, for the tests of a file. */
export interface UsedPage {
  /** Where the service is: `http://127.0.0.1:4711`. Only while tests run. */
  readonly url: string;
  readonly server: Server;
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
  /** Instead of the service: a proxy in front of it, with a `/` at its end. */
  readonly base?: string;
  /** 1280 by 800, unless given. */
  readonly size?: { readonly width: number; readonly height: number };
  readonly colours?: "light" | "dark";
  readonly reducedMotion?: boolean;
  /** What else Chromium is to be told of this user. */
  readonly context?: BrowserContextOptions;
  /** What the test makes the page complain of. */
  readonly provoked?: RegExp;
  /** Called before the page is asked for: for routes, and what has to listen from the beginning. */
  readonly prepare?: (page: Page) => Promise<void> | void;
}

/** @param env settings as the environment writes them, over those that start quickest. */
export function usePage(env: Readonly<Record<string, string>> = {}): UsedPage {
  let running: { readonly server: Server; readonly browser: Browser } | undefined;
  const dataDir = useTemporaryFolder();

  beforeAll(async () => {
    await buildPage();
    const settings = { ...quickestSettings, KIBITZ_PAGE: "on", KIBITZ_DATA_DIR: dataDir, ...env };
    const [server, browser] = await Promise.all([startServer(settings), launchChromium()]);
    running = { server, browser };
  });
  afterAll(async () => {
    await running?.browser.close();
    await running?.server.stop();
  });

  const now = () => {
    if (running === undefined) {
      throw new Error("the page is there only while tests run");
    }
    return running;
  };
  return {
    get url() {
      return now().server.url;
    },
    get server() {
      return now().server;
    },
    get browser() {
      return now().browser;
    },
    async open({ address = "", base = `${now().server.url}/`, prepare, provoked, ...options } = {}) {
      const context = await now().browser.newContext(contextOptions(options));
      const complaints = noteComplaints(context);
      onTestFinished(async () => {
        await context.close();
        const unexpected = complaints.filter((complaint) => !provoked?.test(complaint));
        expect(unexpected, "the page complained").toEqual([]);
      });
      const page = await context.newPage();
      await prepare?.(page);
      await page.goto(base + address);
      await page.getByRole("main").waitFor();
      return page;
    },
  };
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
function noteComplaints(context: BrowserContext): readonly string[] {
  const complaints: string[] = [];
  context.on("weberror", (error) => complaints.push(error.error().stack ?? String(error.error())));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isRefusedCall(message)) {
      complaints.push(message.text());
    }
  });
  return complaints;
}

/** Chromium writes every answer that is an error; of calls, the page tells them itself. */
function isRefusedCall(message: ConsoleMessage): boolean {
  return (
    message.text().startsWith("Failed to load resource") &&
    new URL(message.location().url).pathname.includes("/chess.analysis.v1.")
  );
}
