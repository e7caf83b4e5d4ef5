import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { pagesFrom } from "../../bench/service/pages.ts";
import { readResults } from "../../bench/service/results.ts";

const docs = fileURLToPath(new URL("../../docs", import.meta.url));
const pages = pagesFrom(readResults(join(docs, "benchmarks")));

describe("the pages of what was measured", () => {
  test.each([...pages])(
    "docs/%s says what the results say, as `npm run bench:pages` writes it",
    (path, text) => {
      expect(readFileSync(join(docs, path), "utf8")).toBe(text);
    },
  );

  test("have no picture of other results", () => {
    const pictures = globSync("benchmarks/*.svg", { cwd: docs });
    expect(pictures.toSorted()).toEqual([...pages.keys()].filter((path) => path.endsWith(".svg")).toSorted());
  });
});
