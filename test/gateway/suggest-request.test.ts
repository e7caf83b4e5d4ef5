import { expect, it } from "vitest";
import type { Fault } from "../../src/errors.ts";
import { suggestRequest } from "../../src/gateway/suggest-request.ts";

const depth: Fault = {
  pointer: "/depth",
  code: "out_of_range",
  message: "",
  allowed: { minimum: 1, maximum: 30 },
};

it("moves each number to the nearest that is allowed, and leaves the sent request as it was", () => {
  const sent = { fen: "8/8", depth: 99, movetime_ms: 1, options: { skill_level: 3 } };
  const movetime = { ...depth, pointer: "/movetime_ms", allowed: { minimum: 50, maximum: 60000 } };
  expect(suggestRequest(sent, [depth, movetime])).toEqual({
    fen: "8/8",
    depth: 30,
    movetime_ms: 50,
    options: { skill_level: 3 },
  });
  expect(sent.depth).toBe(99);
});

it("finds numbers in lists and under keys that a pointer escapes", () => {
  const sent = { requests: [{ depth: 3 }, { depth: 0, "a/b~": 77 }] };
  const faults = ["/requests/1/depth", "/requests/1/a~1b~0"].map((pointer) => ({ ...depth, pointer }));
  expect(suggestRequest(sent, faults)).toEqual({ requests: [{ depth: 3 }, { depth: 1, "a/b~": 30 }] });
});

it("has nothing to say where any fault is of another kind", () => {
  const sent = { depth: 99, path: "fast", deph: 1 };
  const path: Fault = { pointer: "/path", code: "out_of_range", message: "", allowed: { enum: ["auto"] } };
  const unknown: Fault = { pointer: "/deph", code: "unknown_field", message: "" };
  expect(suggestRequest(sent, [depth, unknown])).toBeUndefined();
  expect(suggestRequest(sent, [depth, path])).toBeUndefined();
  expect(suggestRequest(sent, [{ pointer: "/depth", code: "out_of_range", message: "" }])).toBeUndefined();
});

it.each(["", "/multipv", "/depth/0", "/constructor/name", "/__proto__"])(
  "has nothing to say where %j leads to no number",
  (pointer) => {
    expect(suggestRequest({ depth: "99" }, [{ ...depth, pointer }])).toBeUndefined();
  },
);
