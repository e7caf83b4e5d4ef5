import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { oldMessage, send } from "./protocols/mcp/messages.ts";
import { compactJson } from "./support/compact-json.ts";
import { useApp } from "./support/running-app.ts";
import { withoutChance } from "./support/without-chance.ts";

/**
 * The README and docs/api.md show real answers. `UPDATE_README=1 npm test -- readme` writes them anew.
 */
const documents = ["README.md", "docs/api.md"].map((name) => {
  const file = new URL(`../${name}`, import.meta.url);
  return { name, file, text: readFileSync(file, "utf8") };
});

/** A command, and below it its answer, which may be folded away. */
const shown = /```sh\n(curl [^`]+)```\n+(?:<details>.*\n+)?```json\n((?:.*\n)*?)```/g;
const examples = documents.flatMap(({ name, file, text }) =>
  [...text.matchAll(shown)].map(([, command = "", answer = ""]) => ({ name, file, command, answer })),
);

/** A command of whose answer jq shows one field. */
const picked = /```sh\n(curl [^`]+) \| jq -r '\.(\w+) \/\/ \.detail'\n```\n+```text\n(.*)\n```/g;
const pickedExamples = documents.flatMap(({ text }) =>
  [...text.matchAll(picked)].map(([, command = "", field = "", answer = ""]) => ({ command, field, answer })),
);

// As on a machine without a native Stockfish, where most readers are.
const app = useApp({
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19",
  KIBITZ_ACCESS: "public",
});

test("docs/api.md has an example for each of the five JSON routes", () => {
  const paths = examples
    .filter(({ name }) => name === "docs/api.md")
    .map(({ command }) => new URL(partsOf(command).url).pathname);
  expect(paths).toEqual(
    expect.arrayContaining(["/v1/eval", "/v1/bestmove", "/v1/review", "/engines", "/price"]),
  );
});

test("no answer is shown that is not compared with the real one", () => {
  const answers = documents.flatMap(({ text }) => [
    ...text.matchAll(/```sh\ncurl [^`]+```\n+(?:<details>.*\n+)?```(?:json|text)\n/g),
  ]);
  expect(examples.length + pickedExamples.length).toBe(answers.length);
  expect(examples).toHaveLength(8);
  expect(pickedExamples).toHaveLength(1);
});

test.each(examples)("$name is answered as shown: $command", async ({ file, command, answer }) => {
  const real = compactJson(await answerTo(command));
  if (process.env.UPDATE_README) {
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(answer, () => `${real}\n`),
    );
  } else {
    expect(withoutChance(answer)).toEqual(withoutChance(real));
  }
});

test.each(pickedExamples)("has the $field as shown: $command", async ({ command, field, answer }) => {
  expect(await answerTo(command)).toMatchObject({ [field]: answer });
});

async function answerTo(command: string): Promise<unknown> {
  const { url, headers, body } = partsOf(command);
  const { pathname, search } = new URL(url);
  const response = await fetch(`${app.url}${pathname}${search}`, {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body !== undefined && { body }),
  });
  return response.json();
}

test("docs/agents.md shows what a model reads", async () => {
  const file = new URL("../docs/agents.md", import.meta.url);
  const text = readFileSync(file, "utf8");
  const [, name, args = "", , shown = ""] =
    /A call of `(\w+)` with `(\{.+\})`(.*:\n)\n```text\n([\s\S]+?)\n```/.exec(text) ?? [];
  const asked = oldMessage("tools/call", { name, arguments: JSON.parse(args) });
  const { body } = await send(app.url, asked);
  const [{ text: real }] = (body.result as { readonly content: [{ readonly text: string }] }).content;
  if (process.env.UPDATE_README) {
    writeFileSync(
      file,
      text.replace(shown, () => real),
    );
  } else {
    expect(shown).toBe(real);
  }
});

/** A curl command of the documents: single quotes only, and `\` at line ends. */
function partsOf(command: string) {
  const url = /(localhost:8080\S*)/.exec(command)?.[1]?.replaceAll("'", "") ?? "";
  const header = /-H '([^:]+): ([^']+)'/.exec(command);
  const headers: Record<string, string> = header?.[1] && header[2] ? { [header[1]]: header[2] } : {};
  return { url: `http://${url}`, headers, body: /-d '([^']+)'/.exec(command)?.[1] };
}
