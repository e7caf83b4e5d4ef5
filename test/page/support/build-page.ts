import { buildPageIfStale } from "../../../src/cli/build-page.ts";

/**
 * Builds the page if its sources have changed.
 *
 * @throws Error with the reason if the build fails
 */
export async function buildPage(): Promise<void> {
  const warn = (fields: object, message: string) => {
    throw new Error(`${message}: ${JSON.stringify(fields)}`);
  };
  await buildPageIfStale({ info() {}, warn }, new AbortController().signal);
}
