import { expect, test } from "vitest";
import { createApiKey } from "../../../src/access/keys.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { useTurnedClock } from "../../support/turned-clock.ts";
import { startFen } from "./cases/case.ts";
import { type HeadsKind, heads } from "./heads.ts";
import { post } from "./post.ts";

const quota = 4;
const windowS = 20;

const passMs = useTurnedClock();
const rates = [rateOf("minute", 100, 60), rateOf("refusals", quota, windowS, "refusal")];
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_KEYS_PER_DAY: "100",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates } }),
  },
  { engines: createEnginesInProcess() },
);

const json = { "Content-Type": "application/json" };
const quick = { fen: startFen, depth: 1 };

/** Calls an MCP tool that needs no engine. */
const mcpTool: Omit<HeadsKind, "upgrade"> = {
  name: "MCP",
  ok: 200,
  later: 429,
  unauthenticated: 401,
  errorsHaveHeaders: true,
  async ask(url, _, headers = {}) {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        ...json,
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "play_moves", arguments: { moves: ["e4"] } },
      }),
    });
    await response.text();
    return { status: response.status, headers: response.headers, trailers: new Headers() };
  },
};

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function newKey(): Promise<string> {
  return String((await post(`${app.url}/v1/keys`, {}, { ...json, ...newCaller() })).body.key);
}

test.each([...heads, mcpTool])(
  "unknown API keys through $name get 429 without a lookup after the error quota of the address is used up",
  async ({ ask, ...kind }) => {
    const address = newCaller();
    const askWith = (key: string, from = address) => ask(app.url, quick, { ...from, ...bearer(key) });
    const remembered = await newKey();
    expect((await askWith(remembered)).status).toBe(kind.ok);
    for (let count = 0; count < quota; count++) {
      expect((await askWith(createApiKey())).status).toBe(kind.unauthenticated);
    }
    const refused = await askWith(createApiKey());
    expect(refused.status).toBe(kind.later);
    const wait = refused.headers.get("retry-after") ?? refused.trailers.get("retry-after");
    expect(wait).toEqual(kind.errorsHaveHeaders ? expect.stringMatching(/^([1-9]|1\d|20)$/) : null);
    expect((await ask(app.url, quick, address)).status).toBe(kind.later);
    // The server reads a key from the database again even if the key is in memory.
    expect((await askWith(remembered)).status).toBe(kind.ok);
    passMs(4000);
    expect((await askWith(remembered)).status).toBe(kind.ok);
    expect((await askWith(await newKey())).status).toBe(kind.later);
    expect((await askWith(createApiKey(), newCaller())).status).toBe(kind.unauthenticated);
    passMs(windowS * 1000);
    expect((await askWith(createApiKey())).status).toBe(kind.unauthenticated);
  },
);

test("malformed keys do not use the error quota", async () => {
  const address = newCaller();
  for (let count = 0; count < 2 * quota; count++) {
    const headers = { ...json, ...address, ...bearer(`${createApiKey()}x`) };
    expect((await post(`${app.url}/v1/eval`, quick, headers)).status).toBe(401);
  }
  expect((await post(`${app.url}/v1/eval`, quick, { ...json, ...address })).status).toBe(200);
});
