import { type Browser, firefox } from "playwright-core";
import { findFirefox } from "../../support/find-browser.ts";

/** Starts an unchanged Firefox without a window. The channel makes Playwright use WebDriver BiDi instead of its own Firefox. */
export function launchFirefox(): Promise<Browser> {
  return firefox.launch({ channel: "moz-firefox", executablePath: findFirefox() ?? "" });
}
