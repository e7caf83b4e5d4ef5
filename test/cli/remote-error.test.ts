import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import { errorFromRemote, RemoteError, UnreachableError } from "../../src/cli/remote-error.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { connectErrorFrom } from "../../src/protocols/connect/errors.ts";

const url = "https://chess.example/kibitz";

const received = (error: KibitzError) => errorFromRemote(connectErrorFrom(error, "r-1"), url);

test("an error that a service sends keeps all of its fields", () => {
  const error = received(
    new KibitzError("upgrade_needed", "Too deep.", {
      violations: [
        { pointer: "/depth", code: "over_plan_limit", message: "30 is over 20.", allowed: { maximum: 20 } },
      ],
      suggestedRequest: { fen: "startpos", depth: 20 },
      upgrade: { plan: "free", url: "/v1/keys" },
      nextAction: "get_api_key",
    }),
  );
  expect(error).toBeInstanceOf(RemoteError);
  expect(error).toMatchObject({
    code: "upgrade_needed",
    message: "Too deep.",
    violations: [{ pointer: "/depth", code: "over_plan_limit", allowed: { maximum: 20 } }],
    suggestedRequest: { fen: "startpos", depth: 20 },
    upgrade: { plan: "free", url: "https://chess.example/kibitz/v1/keys" },
    nextAction: "get_api_key",
    problem: { status: 402, requestId: "r-1" },
  });
});

test("an error that a service sends keeps the time to wait", () => {
  expect(received(new KibitzError("rate_limited", "Later.", { retryAfterMs: 41_500 }))).toMatchObject({
    code: "rate_limited",
    retryAfterMs: 41_500,
    nextAction: "retry_later",
  });
});

test("an error that a service sends with an unknown code gets the code that belongs to the HTTP status", () => {
  const value = { code: "closed_today", status: 401, detail: "Not today.", nextAction: "go_home" };
  const newer = new ConnectError("", Code.Unauthenticated, undefined, [{ desc: ProblemSchema, value }]);
  expect(errorFromRemote(newer, url)).toMatchObject({
    code: "invalid_api_key",
    message: "Not today.",
    nextAction: "check_api_key",
    problem: { code: "closed_today", status: 401 },
  });
});

const failed = (code: string) =>
  new ConnectError("", Code.Unavailable, undefined, undefined, Object.assign(new Error(""), { code }));

test.each([
  [
    "ECONNREFUSED",
    /^nothing is listening at https:\/\/chess\.example\/kibitz \(ECONNREFUSED\): start a service/,
  ],
  ["ENOTFOUND", /^the name chess\.example cannot be found/],
  ["EAI_AGAIN", /look at the network of this machine$/],
  ["ETIMEDOUT", /cannot be reached \(ETIMEDOUT\)/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /certificate of chess\.example is not trusted.*NODE_EXTRA_CA_CERTS$/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /certificate of chess\.example is not trusted/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /certificate of chess\.example is not trusted/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /no TLS connection.*write http:\/\/chess\.example$/],
  ["EPROTO", /no TLS connection/],
  ["HPE_INVALID_CONSTANT", /does not answer in HTTP.*write https:\/\/chess\.example$/],
  ["ECONNRESET", /broke off \(ECONNRESET\): ask again$/],
])("the network error %s has a message with advice", (code, message) => {
  const error = errorFromRemote(failed(code), url);
  expect(error).toBeInstanceOf(UnreachableError);
  expect(error.message).toMatch(message);
});

test.each([
  ["HTTP 404", Code.Unimplemented, /is not Kibitz \(HTTP 404\): correct --url; .* path belongs to it$/],
  [
    "unsupported content type text/html",
    Code.Unknown,
    /is not Kibitz \(unsupported content type text\/html\)/,
  ],
  ["HTTP 502", Code.Unavailable, /in the place of the service says HTTP 502: ask again later/],
  ["bad\u001b[31m", Code.Unknown, /is not Kibitz \(bad\\u001b\[31m\)/],
])("the response %s of a server other than Kibitz has a message with advice", (said, code, message) => {
  expect(errorFromRemote(new ConnectError(said, code), url).message).toMatch(message);
});
