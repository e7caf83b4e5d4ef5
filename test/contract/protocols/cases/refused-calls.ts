import { createApiKey } from "../../../../src/access/keys.ts";
import type { Call, Plain } from "../protocol.ts";
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

const withoutKey = (call: Call): RefusalCase => ({
  kind: "refusal",
  name: `${call} without a key`,
  call,
  request: {},
  code: "api_key_required",
  nextAction: "contact_operator",
  pointers: [],
});

/** Every protocol rejects these calls for any message. */
export const refusedCalls: readonly RefusalCase[] = [
  badKey("a key that is mistyped", "Bearer kbz_0123456789abcdefghijABCDEFGHIJ123456", { fen: startFen }),
  badKey("a key that is not known", `Bearer ${createApiKey()}`, { fen: startFen }),
  badKey("a credential that is no key at all", "YTpi", { fen: startFen }),
  badKey("an unknown key before a bad position", "Bearer x", { fen: "bad" }),
  withoutKey("getKey"),
  withoutKey("revokeKey"),
  {
    kind: "refusal",
    name: "a new key without self-service",
    call: "createKey",
    request: {},
    code: "self_service_disabled",
    nextAction: "contact_operator",
    pointers: [],
  },
];
