import { findChromium } from "./find-chromium.ts";

/** Says once what this run leaves out; in CI nothing may be left out. */
export default function requireChromium(): void {
  if (findChromium() !== undefined) {
    return;
  }
  if (process.env.CI) {
    throw new Error("no Chromium: apt-get install chromium");
  }
  console.log(
    "Left out: tests in a browser, because no Chromium is installed (Debian: apt-get install chromium).",
  );
}
