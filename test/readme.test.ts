import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compactJson } from "./support/compact-json.ts";
import { useApp } from "./support/running-app.ts";
import { withoutChance } from "./support/without-chance.ts";

/**
 * The README shows real answers. `UPDATE_README=1 npm test -- readme` writes them anew.
 */
const file = new URL("../README.md", import.meta.url);
const readme = readFileSync(file, "utf8");
const examples = [...readme.matchAll(/```sh\n(curl [^`]+)```\n+```json\n([^`]+)```/g)].map(
  ([, command = "", answer = ""]) => ({
    command,
    answer,
  }),
);

// As on a machine without a native Stockfish, where most readers are.
const app = useApp({
  KIBITZ_NATIVE_ENGINES: "",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19",
  KIBITZ_ACCESS: "public",
});

test("has an example for each of the four JSON routes", () => {
  const paths = examples.map(({ command }) => new URL(partsOf(command).url).pathname);
  expect(paths).toEqual(expect.arrayContaining(["/v1/eval", "/v1/bestmove", "/engines", "/price"]));
});

test.each(examples)("is answered as shown: $command", async ({ command, answer }) => {
  const { url, headers, body } = partsOf(command);
  const { pathname, search } = new URL(url);
  const response = await fetch(`${app.url}${pathname}${search}`, {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body !== undefined && { body }),
  });
  const real = compactJson(await response.json());
  if (process.env.UPDATE_README) {
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(answer, () => `${real}\n`),
    );
    return;
  }
  expect(withoutChance(answer)).toEqual(withoutChance(real));
});

/** A curl command of the README: single quotes only, and `\` at line ends. */
function partsOf(command: string) {
  const url = /(localhost:8080\S*)/.exec(command)?.[1]?.replaceAll("'", "") ?? "";
  const header = /-H '([^:]+): ([^']+)'/.exec(command);
  const headers: Record<string, string> = header?.[1] && header[2] ? { [header[1]]: header[2] } : {};
  return { url: `http://${url}`, headers, body: /-d '([^']+)'/.exec(command)?.[1] };
}
