import { type Browser, chromium } from "playwright-core";
import { findChromium } from "../../support/find-chromium.ts";

/** The Chromium of this machine, without a window. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  });
}
