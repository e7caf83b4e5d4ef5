import { expect, test } from "vitest";
import type { CommandInput } from "../../src/cli/command.ts";
import { remoteAddressOf } from "../../src/cli/remote-address.ts";

function addressOf(values: CommandInput["values"], env: Readonly<Record<string, string>> = {}) {
  return remoteAddressOf({ values, host: { env } as CommandInput["host"] });
}

test.each([
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["https://Chess.example/", "https://chess.example"],
  ["https://chess.example/kibitz/", "https://chess.example/kibitz"],
  ["http://[::1]:8080", "http://[::1]:8080"],
])("the service address %s is read as %s", (given, url) => {
  expect(addressOf({ url: given })).toEqual({ url, key: undefined });
});

test.each([
  ["localhost:8080", /^--url must begin with http:\/\/ .*did you mean http:\/\/localhost:8080\?$/],
  ["ftp://chess.example", /not ftp:\/\/chess\.example$/],
  ["https://me:secret@chess.example", /^--url must have no user or password/],
  ["https://chess.example/?key=1", /^--url must end before \?/],
  ["https://chess.example/#top", /^--url must end before #/],
])("the service address %s is refused", (url, message) => {
  expect(() => addressOf({ url })).toThrow(message);
});

test("the option --key has priority over KIBITZ_API_KEY", () => {
  const url = "http://chess.example";
  expect(addressOf({ url, key: "kbz_1" }, { KIBITZ_API_KEY: "kbz_2" })?.key).toBe("kbz_1");
  expect(addressOf({ url }, { KIBITZ_API_KEY: "kbz_2" })?.key).toBe("kbz_2");
  expect(addressOf({ url }, { KIBITZ_API_KEY: "" })?.key).toBeUndefined();
});

test("a malformed key is refused, and the message does not repeat the key", () => {
  const refuse = () => addressOf({ url: "http://chess.example", key: "kbz_1 2" });
  expect(refuse).toThrow(/characters that no key has/);
  expect(refuse).not.toThrow(/kbz_1/);
});

test("without --url, KIBITZ_API_KEY is ignored and --key is refused", () => {
  expect(addressOf({}, { KIBITZ_API_KEY: "kbz_2" })).toBeUndefined();
  expect(() => addressOf({ key: "kbz_1" })).toThrow("--key is for a running service: name it with --url");
});

test.each([
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1"],
])("a command continues the trace in TRACEPARENT and TRACESTATE: %s, %s", (traceparent, tracestate) => {
  const env = { TRACEPARENT: traceparent, ...(tracestate && { TRACESTATE: tracestate }) };
  expect(addressOf({ url: "http://chess.example" }, env)?.trace).toEqual({
    traceparent,
    ...(tracestate && { tracestate }),
  });
});

test.each(["nonsense", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: y", ""])(
  "a command ignores an invalid TRACEPARENT: %j",
  (traceparent) => {
    const env = { TRACEPARENT: traceparent, TRACESTATE: "vendor=1" };
    expect(addressOf({ url: "http://chess.example" }, env)?.trace).toBeUndefined();
  },
);
