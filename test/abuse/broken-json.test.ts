import { describe, test } from "vitest";
import { jsonCalls, matedFen } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

const good = JSON.stringify({ fen: matedFen });
const filler = "Zyxwv".repeat(50);

describe("03: a body that is not a JSON object is refused with 400", () => {
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
    "%s answers a body that is not a JSON object with status 400 and a problem document",
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

describe("05: a body with a duplicate key is refused", () => {
  test.each([
    `{"fen":"x","fen":"${matedFen}"}`,
    `{"fen":"${matedFen}","fen":"${matedFen}"}`,
    `{"fen":"${matedFen}","depth":1,"depth":31}`,
    `{"depth":31,"fen":"${matedFen}","depth":1}`,
    `{"fen":"${matedFen}","\\u0064epth":31,"depth":1}`,
    `{"fen":"${matedFen}","options":{"skill_level":1,"skill_level":99}}`,
    `{"fen":"${matedFen}","options":{"skill_level":1},"options":{"Debug Log File":"x"}}`,
    `{"fen":"${matedFen}","__proto__":1,"__proto__":{}}`,
  ])("a body with a duplicate key is refused: %s", async (body) => {
    for (const path of ["/v1/eval", "/v1/bestmove"]) {
      expectProblem(await service.post(path, body), { status: 400, code: "malformed_json" }, body);
    }
    expectProblem(await service.post("/v1/eval/batch", `{"requests":[${body}]}`), {
      status: 400,
      code: "malformed_json",
    });
  });
});
