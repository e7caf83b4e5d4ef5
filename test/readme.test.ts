import { expect, test } from "vitest";
import {
  documents,
  documentWithAnswers,
  partsOf,
  plainSettings,
  shownJson,
  shownReview,
  textOf,
} from "../tools/shown-answers.ts";
import { useApp } from "./support/running-app.ts";

const app = useApp(plainSettings);

test.each(documents)("the answers in %s are up to date with `npm run update`", async (path) => {
  expect(textOf(path)).toBe(await documentWithAnswers(path, app.url));
});

test("docs/api.md has an example for each of the six JSON routes", () => {
  const paths = [...textOf("docs/api.md").matchAll(shownJson)].map(
    ([, command = ""]) => partsOf(command).path.split("?", 1)[0],
  );
  expect(paths).toEqual(
    expect.arrayContaining(["/v1/eval", "/v1/bestmove", "/v1/review", "/v1/tablebase", "/engines", "/price"]),
  );
});

test("every answer in README.md and docs/api.md is compared with a real answer", () => {
  const all = documents.map(textOf).join("\n");
  const shown = [...all.matchAll(/```sh\ncurl [^`]+```\n+(?:<details>.*\n+)?```(?:json|text)\n/g)];
  const compared = [...all.matchAll(shownJson)];
  expect(compared).toHaveLength(shown.length);
  expect(compared).toHaveLength(10);
  expect([...all.matchAll(shownReview)]).toHaveLength(1);
});

test("README.md is short and begins with a first request", () => {
  const lines = textOf("README.md").split("\n");
  const [, firstCommand] = textOf("README.md").match(new RegExp(shownJson.source)) ?? [];
  expect(lines.length).toBeLessThan(200);
  expect(lines.slice(0, 25).join("\n")).toContain("npm install && npm start");
  expect(lines.slice(0, 25).join("\n")).toContain(firstCommand);
});
