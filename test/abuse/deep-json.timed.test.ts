import { describe, expect, test } from "vitest";
import { matedFen } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, sharedMaxBytes, watchHealth } from "./health-watch.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

describe("06: bodies that nest deeply or have thousands of keys", () => {
  const levels = 20_000;
  const keys = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `"${name}${index.toString(36)}":1`).join(",");
  const bodies = {
    "20,000 arrays": "[".repeat(levels) + "]".repeat(levels),
    "20,000 arrays without an end": "[".repeat(levels),
    "10,000 objects": `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    "20,000 arrays in options": `{"fen":"${matedFen}","options":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`,
    "3,000 keys": `{${keys(3000, "key")}}`,
    "3,000 keys that look like fields": `{"fen":"${matedFen}",${keys(3000, "dept")}}`,
    "3,000 options": `{"fen":"${matedFen}","options":{${keys(3000, "skill_leve")}}}`,
    "6,000 moves": JSON.stringify({ fen: matedFen, moves: Array.from({ length: 6000 }, () => "e2e4") }),
    "a number of 60,000 digits": `{"fen":"${matedFen}","depth":${"9".repeat(60_000)}}`,
    "a text of 60,000 escapes that is there twice": `{"fen":"${"\\\\".repeat(30_000)}","fen":1}`,
  };
  test("a body with 20 kB of nesting, keys, digits or escapes is refused, and does not delay health probes", async () => {
    const stop = await watchHealth(service);
    for (const body of Object.values(bodies)) {
      expectProblem(await service.post("/v1/eval", body), { status: [400, 413] }, body);
    }
    expectUnharmed(await stop(), { peakBytes: sharedMaxBytes });
  });

  test("each of 200 batch items with 450 unknown keys is refused, and the batch does not delay health probes", async () => {
    const item = `{${keys(450, "dept")}}`;
    const stop = await watchHealth(service);
    const answer = await service.post("/v1/eval/batch", `{"requests":[${Array(200).fill(item).join(",")}]}`);
    expectUnharmed(await stop(), { peakBytes: sharedMaxBytes });
    const items: { problem: { code: string; errors: unknown[] } }[] = JSON.parse(answer.body);
    expect(items).toHaveLength(200);
    for (const { problem } of items) {
      expect(problem.code).toBe("unknown_field");
      expect(problem.errors.length).toBeLessThanOrEqual(20);
    }
  });
});
