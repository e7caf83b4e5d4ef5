import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";

/** The error quota of an address. A request with a wrong path, method or content type reduces the quota by one. */
const budget = 3;
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile(
      {
        id: "keyless",
        limits: { rates: [rateOf("minute", 9, 60), rateOf("refusals", budget, 60, "refusal")] },
      },
      { id: "free", limits: {} },
    ),
  },
  { engines: createEnginesInProcess() },
);

const service = "/chess.analysis.v1.AnalysisService";

async function send(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const init = { method, headers, ...(method === "POST" && { body: "{}" }) };
  const { status, headers: fields } = await fetch(app.url + path, init);
  return { status, fields };
}

test.each([
  ["DELETE", "/v1/eval", "", 405],
  ["GET", "/v1/eval/batch", "", 405],
  ["GET", "/v1/review", "", 405],
  ["POST", "/v1/eval/", "application/json", 404],
  ["PUT", `${service}/Evaluate`, "", 405],
  ["GET", `${service}/EvaluateBatch`, "", 405],
  ["GET", `${service}/Evaluate?connect=v1`, "", 400],
  ["POST", `${service}/Evaluate`, "text/plain", 415],
  ["POST", `${service}/Evaluate`, "application/grpc", 415],
  ["POST", `${service}/EvaluateBatch`, "application/json", 415],
  ["POST", "/chess.analysis.v1.GameService/ReviewGame", "application/json", 415],
])("%s %s %s returns 401 with an invalid key and %i without a key", async (method, path, type, status) => {
  const headers = { ...newCaller(), ...(type && { "Content-Type": type }) };
  expect((await send(method, path, headers)).status).toBe(status);
  const refused = await send(method, path, { ...headers, Authorization: "Bearer kbz_wrong" });
  expect([refused.status, refused.fields.get("www-authenticate")]).toEqual([
    401,
    'Bearer error="invalid_token"',
  ]);
  expect(refused.fields.get("allow")).toBeNull();
});

test.each([
  ["grpc-web-text", `${service}/Evaluate`],
  ["grpc-web-text+proto", `${service}/Evaluate`],
  ["grpc-web-text", "/v1/eval"],
])(
  "the content type %s at %s is refused with 415 and a list of the supported gRPC-Web types",
  async (type, path) => {
    const headers = { ...newCaller(), "Content-Type": `application/${type}` };
    const answer = await fetch(app.url + path, { method: "POST", headers, body: "AAAAAAA=" });
    expect([answer.status, await answer.text()]).toEqual([
      415,
      expect.stringContaining(
        "gRPC-Web is served as application/grpc-web and application/grpc-web+proto and application/grpc-web+json",
      ),
    ]);
  },
);

test("a body of the wrong type uses the error quota, and the error has the rate limit headers", async () => {
  const headers = { "X-Forwarded-For": "198.51.100.1", "Content-Type": "text/plain" };
  for (let refused = 0; refused < budget; refused++) {
    const { status, fields } = await send("POST", `${service}/Evaluate`, headers);
    expect([status, fields.get("ratelimit")]).toEqual([415, '"minute";r=9;t=60']);
  }
  const { status, fields } = await send("POST", `${service}/Evaluate`, headers);
  expect([status, fields.get("ratelimit")]).toEqual([429, '"refusals";r=0;t=60, "minute";r=9;t=60']);
  expect(Number(fields.get("retry-after"))).toBeGreaterThan(50);
});
