import { type Browser, type BrowserServer, chromium } from "playwright-core";
import { findChromium } from "../../support/find-browser.ts";

/**
 * Starts Chromium without a window.
 *
 * @param keepsPages enables the back/forward cache, as in a user's browser
 */
export function launchChromium({ keepsPages = false } = {}): Promise<Browser> {
  return chromium.launch({
    ...launchOptions(),
    ignoreDefaultArgs: keepsPages ? ["--disable-back-forward-cache"] : [],
  });
}

/** Starts a Chromium that other processes can use through its WebSocket. */
export function serveChromium(): Promise<BrowserServer> {
  return chromium.launchServer({ ...launchOptions(), host: "127.0.0.1" });
}

function launchOptions() {
  return {
    executablePath: findChromium() ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  };
}
