import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const request: object = JSON.parse(read("gen/openapi.json")).components.schemas.AnalysisRequest.properties;
const { answer }: { readonly answer: object } = JSON.parse(read("docs/examples/evaluation.json"));

/** The fields of Kibitz in the last cell of each table row, for example `lines[].score.cp`. */
const fields = read("docs/coming-from.md")
  .split(/^(?=\| .+, (?:request|answer) \|)/m)
  .flatMap((table) => {
    const kind = /^\| .+, (request|answer) \|/.exec(table)?.[1];
    const cells = [...table.matchAll(/^\| `?.+ \| (.+) \|$/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+(?:\[\])?(?:\.[a-z_]+)*)`/g)]);
    return kind === undefined ? [] : named.map(([, path = ""]) => ({ kind, path }));
  });

test("docs/coming-from.md names only existing fields of requests and answers", () => {
  const has = ({ kind, path }: { readonly kind: string; readonly path: string }) => {
    let value: unknown = kind === "request" ? request : answer;
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
