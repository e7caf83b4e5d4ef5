import { expect, test } from "vitest";
import type { NodeRequest } from "../../../src/http/message.ts";
import { dropLongTimeout } from "../../../src/protocols/connect/repairs.ts";

const after = (headers: Record<string, string>) => {
  dropLongTimeout({ headers } as unknown as NodeRequest);
  return headers;
};

test.each([
  ["connect-timeout-ms", "9999999999"],
  ["connect-timeout-ms", "2147483648"],
  ["grpc-timeout", "99999999H"],
  ["grpc-timeout", "99999999M"],
  ["grpc-timeout", "99999999S"],
])("%s: %s is further than Node can count, and none", (name, value) => {
  expect(after({ [name]: value })).toEqual({});
});

test.each([
  ["connect-timeout-ms", "2147483647"],
  ["connect-timeout-ms", "0"],
  ["connect-timeout-ms", "99999999999"],
  ["connect-timeout-ms", "soon"],
  ["grpc-timeout", "99999999m"],
  ["grpc-timeout", "99999999n"],
  ["grpc-timeout", "596H"],
  ["grpc-timeout", "1"],
])("%s: %s stays as it is", (name, value) => {
  expect(after({ [name]: value })).toEqual({ [name]: value });
});
