import { type Browser, type BrowserServer, chromium } from "playwright-core";
import { findChromium } from "../../support/find-chromium.ts";

/**
 * The Chromium of this machine, without a window.
 *
 * @param keepsPages as people have it: a page that was left is kept as it is, and shown again by the way back
 */
export function launchChromium({ keepsPages = false } = {}): Promise<Browser> {
  return chromium.launch({
    ...launchOptions(),
    ignoreDefaultArgs: keepsPages ? ["--disable-back-forward-cache"] : [],
  });
}

/** The same for other processes, which connect to its WebSocket. */
export function serveChromium(): Promise<BrowserServer> {
  return chromium.launchServer({ ...launchOptions(), host: "127.0.0.1" });
}

function launchOptions() {
  return {
    executablePath: findChromium() ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  };
}
