import { describe, expect, test } from "vitest";
import { jsonCalls, matedFen } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

const good = JSON.stringify({ fen: matedFen });
const filler = "Zyxwv".repeat(50);

describe("03: what is no JSON object is 400 with a problem document", () => {
  const broken: readonly (string | Uint8Array)[] = [
    "",
    " ",
    "\n",
    "{",
    "}",
    "[",
    "]",
    "{]",
    "[}",
    '{"fen"',
    '{"fen":',
    '{"fen":}',
    '{"fen":"',
    `{"fen":"${matedFen}"`,
    `{"fen":"${matedFen}",}`,
    `{"fen":"${matedFen}"}}`,
    `${good}${good}`,
    `{'fen':'${matedFen}'}`,
    `{fen:"${matedFen}"}`,
    `{"fen":"${matedFen}" "depth":1}`,
    `{"fen":"${matedFen}",,"depth":1}`,
    `{"fen":"${matedFen}","depth":01}`,
    `{"fen":"${matedFen}","depth":+1}`,
    `{"fen":"${matedFen}","depth":.5}`,
    `{"fen":"${matedFen}","depth":1.}`,
    `{"fen":"${matedFen}","depth":0x10}`,
    `{"fen":"${matedFen}","depth":NaN}`,
    `{"fen":"${matedFen}","depth":-Infinity}`,
    `{"fen":"${matedFen}","depth":undefined}`,
    `{"fen":"${matedFen}"} // comment`,
    `/* comment */ ${good}`,
    '{"fen":"\\x41"}',
    '{"fen":"\\u12"}',
    '{"fen":"line\nbreak"}',
    '{"fen":"\u0000"}',
    "null",
    "true",
    "42",
    '"text"',
    "[]",
    `[${good}]`,
    `{"${filler}`,
    `${filler}`,
    `\u001e${good}`,
    `while(1);${good}`,
    Buffer.from(good, "utf16le"),
    Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(good)]),
    Buffer.concat([Buffer.from('{"fen":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
    Buffer.concat([Buffer.from('{"fen":"'), Buffer.of(0xc0, 0xaf), Buffer.from('"}')]),
    Buffer.concat([Buffer.from('{"fen":"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]),
    Buffer.concat([Buffer.from('{"fen":"'), Buffer.of(0xf8, 0x88, 0x80, 0x80, 0x80), Buffer.from('"}')]),
    Buffer.of(0x80, 0x81, 0xff, 0x00),
  ];

  test.each(jsonCalls)(
    "%s refuses what is not a JSON object with 400 and a problem document",
    async (path) => {
      for (const body of broken) {
        const answer = await service.post(path, body);
        expectProblem(
          answer,
          { status: 400, code: ["malformed_json", "invalid_type"] },
          typeof body === "string" ? body : "",
        );
      }
    },
  );
});

describe("05: a key that stands twice is refused, wherever it stands and however it is written", () => {
  test.each([
    `{"fen":"x","fen":"${matedFen}"}`,
    `{"fen":"${matedFen}","fen":"${matedFen}"}`,
    `{"fen":"${matedFen}","depth":1,"depth":31}`,
    `{"depth":31,"fen":"${matedFen}","depth":1}`,
    `{"fen":"${matedFen}","\\u0064epth":31,"depth":1}`,
    `{"fen":"${matedFen}","options":{"skill_level":1,"skill_level":99}}`,
    `{"fen":"${matedFen}","options":{"skill_level":1},"options":{"Debug Log File":"x"}}`,
    `{"fen":"${matedFen}","__proto__":1,"__proto__":{}}`,
  ])("a key that stands twice is refused: %s", async (body) => {
    for (const path of ["/v1/eval", "/v1/bestmove"]) {
      expectProblem(await service.post(path, body), { status: 400, code: "malformed_json" }, body);
    }
    expectProblem(await service.post("/v1/eval/batch", `{"requests":[${body}]}`), {
      status: 400,
      code: "malformed_json",
    });
  });
});

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
  test("20 kB and more of nesting, keys, digits or escapes are refused, and delay no probe", async () => {
    const stop = await watchHealth(service);
    for (const body of Object.values(bodies)) {
      expectProblem(await service.post("/v1/eval", body), { status: [400, 413] }, body);
    }
    expectUnharmed(await stop());
  });

  test("a batch of 200 items with 450 unknown keys each is refused item by item, and delays no probe", async () => {
    const item = `{${keys(450, "dept")}}`;
    const stop = await watchHealth(service);
    const answer = await service.post("/v1/eval/batch", `{"requests":[${Array(200).fill(item).join(",")}]}`);
    expectUnharmed(await stop());
    const items: { problem: { code: string; errors: unknown[] } }[] = JSON.parse(answer.body);
    expect(items).toHaveLength(200);
    for (const { problem } of items) {
      expect(problem.code).toBe("unknown_field");
      expect(problem.errors.length).toBeLessThanOrEqual(20);
    }
  });
});
