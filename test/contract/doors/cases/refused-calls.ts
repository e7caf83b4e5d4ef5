import type { Call, Plain } from "../door.ts";
import { type RefusalCase, startFen } from "./case.ts";

const badKey = (name: string, authorization: string, request: Plain): RefusalCase => ({
  kind: "refusal",
  name,
  call: "evaluate",
  request,
  headers: { Authorization: authorization },
  code: "invalid_api_key",
  nextAction: "check_api_key",
  pointers: [],
});

const unimplemented = (call: Call, request: Plain = {}): RefusalCase => ({
  kind: "refusal",
  name: `${call}, which is declared and not answered yet`,
  call,
  request,
  code: "unimplemented",
  nextAction: "fix_request",
  pointers: [],
});

/** Calls that every door refuses, whatever they ask. */
export const refusedCalls: readonly RefusalCase[] = [
  badKey("a key that is not known", "Bearer kbz_0123456789abcdefghijABCDEFGHIJ123456", { fen: startFen }),
  badKey("a credential that is no key at all", "Basic YTpi", { fen: startFen }),
  badKey("a key that is not known before a position that is bad", "Bearer x", { fen: "bad" }),
  unimplemented("createKey"),
  unimplemented("getKey"),
  unimplemented("revokeKey"),
];
