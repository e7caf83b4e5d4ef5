import { buildPageIfStale } from "../../../src/cli/build-page.ts";

/** Builds the page as a starting server does: once, and again when a source has changed. @throws Error that says why it cannot be built. */
export async function buildPage(): Promise<void> {
  const warn = (fields: object, message: string) => {
    throw new Error(`${message}: ${JSON.stringify(fields)}`);
  };
  await buildPageIfStale({ info() {}, warn }, new AbortController().signal);
}
