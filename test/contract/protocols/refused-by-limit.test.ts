import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";
import { heads } from "./heads.ts";
import { post } from "./post.ts";

const rates = [
  rateOf("minute", 2, 60),
  rateOf("hour", 100, 3600),
  rateOf("refusals", 3, 600, "refusal"),
  rateOf("calls", 1000, 60, "call"),
];
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates } }),
  },
  { engines: createEnginesInProcess() },
);

const position = { fen: startFen, depth: 1 };
/** Over gRPC, the wait is in the details of the status. */
const waitOf = (headers: Headers) => headers.get("retry-after") ?? "\\d+";
const firstOf = (headers: Headers) =>
  /^"([^"]+)";r=(\d+);t=(\d+)/.exec(headers.get("ratelimit") ?? "")?.slice(1);

describe.each(heads.filter(({ errorsHaveHeaders }) => errorsHaveHeaders))(
  "through $name",
  ({ name, ask, later }) => {
    test(`the first RateLimit item of a refusal through ${name} is the window that refuses, and waits as long as Retry-After`, async () => {
      const caller = newCaller();
      await ask(app.url, position, caller);
      const { headers } = await ask(app.url, position, caller);
      expect(firstOf(headers)?.slice(0, 2)).toEqual(["minute", "0"]);
      const refused = await ask(app.url, position, caller);
      expect(refused.status).toBe(later);
      const waitS = waitOf(refused.headers);
      expect(refused.headers.get("ratelimit")).toMatch(new RegExp(`^"minute";r=0;t=${waitS}, "hour";r=98;`));
      expect(refused.headers.get("ratelimit-policy")).toBe('"minute";q=2;w=60, "hour";q=100;w=3600');
    });

    test(`a caller through ${name} without error quota sees the window of refusals first`, async () => {
      const caller = newCaller();
      for (let count = 0; count < 3; count++) {
        await ask(app.url, { fen: "bad" }, caller);
      }
      const refused = await ask(app.url, position, caller);
      expect(refused.status).toBe(later);
      const fields = new RegExp(`^"refusals";r=0;t=${waitOf(refused.headers)}, .*"minute";r=2;t=60`);
      expect(refused.headers.get("ratelimit")).toMatch(fields);
    });
  },
);

const usedUp = async () => {
  const caller = newCaller();
  for (let count = 0; count < 2; count++) {
    await post(`${app.url}/v1/eval`, position, { "Content-Type": "application/json", ...caller });
  }
  return caller;
};
const offer = 'An API key of the plan "free" allows 240 requests in 60 s: POST /v1/keys issues one.';

test.each([json, ...rpcProtocols])(
  "a refusal of a caller without a key says through $name what a key would change",
  async (kind) => {
    await using protocol = kind.open(app.url);
    const caller = await usedUp();
    for (const [call, request] of [
      ["evaluate", position],
      ["findBestMove", position],
      ["reviewGame", { moves: ["e4"], depth: 1 }],
    ] as const) {
      const outcome = await protocol.call(call, request, caller);
      expect(outcome).toMatchObject({
        kind: "refusal",
        refusal: { code: "rate_limited", message: expect.stringContaining(offer), nextAction: "retry_later" },
      });
    }
  },
);

test("a refusal of a caller without a key has the plan and the address to get a key", async () => {
  const headers = { "Content-Type": "application/json", ...(await usedUp()) };
  const { body } = await post(`${app.url}/v1/eval`, position, headers);
  expect(body).toMatchObject({ upgrade: { plan: "free", url: "/v1/keys" }, retryable: true });
});
