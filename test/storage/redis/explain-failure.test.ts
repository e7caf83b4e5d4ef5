import { describe, expect, test } from "vitest";
import {
  explainBreak,
  explainRefusal,
  isTooOld,
  TooOld,
} from "../../../src/storage/redis/explain-failure.ts";

describe("what Redis refuses", () => {
  test.each([
    [
      "WRONGPASS invalid username-password pair or user is disabled.",
      "unusable",
      "refuses the user or the password",
    ],
    ["NOAUTH HELLO must be called with the client already authenticated", "unusable", "the URL has none"],
    ["NOPERM this user has no permissions to run the 'set' command", "unusable", "its user may not do"],
    ["READONLY You can't write against a read only replica.", "unusable", "name the primary"],
    ["MOVED 3999 127.0.0.1:6381", "unusable", "Redis Cluster"],
    ["ERR DB index is out of range", "unusable", "no database of the number"],
    ["ERR unknown command `HELLO`, with args beginning with: `3`,", "unusable", "older than Redis 6.2"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "unwritable", "memory is full"],
    ["MISCONF Redis is configured to save RDB snapshots", "unwritable", "save to its disk"],
    ["NOREPLICAS Not enough good replicas to write.", "unwritable", "min-replicas-to-write"],
    [
      "OOM command not allowed when used memory > 'maxmemory'. script: 3ed7, on @user_script:1.",
      "unwritable",
      "memory is full",
    ],
    [
      "ERR Error running script (call to f_3ed7): @user_script:1: @user_script: 1: -OOM command not allowed when",
      "unwritable",
      "memory is full",
    ],
    [
      "ERR The user executing the script can't run this command or subcommand script: 3ed7, on @user_script:1.",
      "unusable",
      "its user may not do",
    ],
    [
      "ERR ACL failure in script: User kibitz has no permissions to run the",
      "unusable",
      "its user may not do",
    ],
    ["LOADING Redis is loading the dataset in memory", "unavailable", "after a start"],
    ["WRONGTYPE Operation against a key", "refused", "WRONGTYPE Operation against a key"],
  ])("a refusal of Redis is explained: %s: %s", (message, kind, why) => {
    const failure = explainRefusal(message);
    expect(failure.kind).toBe(kind);
    expect(failure.why).toContain(why);
  });
});

test.each([
  ["6.0.16", true],
  ["5.9.0", true],
  ["6.2.0", false],
  ["7.0.15", false],
  ["10.1.0", false],
])("Redis %s is too old: %s", (version, tooOld) => {
  expect(isTooOld(`# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\n`)).toBe(tooOld);
  expect(isTooOld("# Server\r\n")).toBe(false);
  expect(explainBreak(new TooOld())).toMatchObject({ kind: "unusable" });
});

test.each([
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:6379", "unavailable"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND redis", "unavailable"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match", "unusable"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate", "unusable"],
])("a failed connection by %s is explained in the words of the system", (code, message, kind) => {
  const failure = explainBreak(Object.assign(new Error(message), { code }));
  expect(failure.kind).toBe(kind);
  expect(failure.why).toContain(message);
});

test("a failed connection without a message is explained by its code, as for several addresses", () => {
  const error = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
  expect(explainBreak(error)).toEqual({ kind: "unavailable", name: "lost", why: "ECONNREFUSED" });
});
