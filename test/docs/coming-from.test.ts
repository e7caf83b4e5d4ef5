import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const request: object = JSON.parse(read("gen/openapi.json")).components.schemas.AnalysisRequest.properties;
const answerOf = (example: string): object => JSON.parse(read(`docs/examples/${example}.json`)).answer;
const messages = new Map([
  ["request", request],
  ["answer", answerOf("evaluation")],
  ["look-up", answerOf("tablebase")],
]);

/** The fields of Kibitz in the last cell of each table row, for example `lines[].score.cp`. */
const fields = read("docs/coming-from.md")
  .split(/^(?=\| .+, (?:request|answer|look-up) \|)/m)
  .flatMap((table) => {
    const kind = /^\| .+, (request|answer|look-up) \|/.exec(table)?.[1];
    const cells = [...table.matchAll(/^\| `?.+ \| (.+) \|$/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+(?:\[\])?(?:\.[a-z_]+)*)`/g)]);
    return kind === undefined ? [] : named.map(([, path = ""]) => ({ kind, path }));
  });

test("docs/coming-from.md names only existing fields of requests and answers", () => {
  const has = ({ kind, path }: { readonly kind: string; readonly path: string }) => {
    let value: unknown = messages.get(kind);
    return path.split(".").every((part) => {
      const [name = "", isList] = [part.replace("[]", ""), part.endsWith("[]")];
      const found = typeof value === "object" && value !== null && name in value;
      value = found ? Reflect.get(Object(value), name) : undefined;
      value = isList && Array.isArray(value) ? value[0] : value;
      return found;
    });
  };
  expect(fields.length).toBeGreaterThan(35);
  expect(fields.filter((field) => !has(field))).toEqual([]);
});
