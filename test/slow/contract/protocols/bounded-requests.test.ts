import { expect, test } from "vitest";
import { rpcProtocols } from "../../../contract/protocols/all-protocols.ts";
import { json } from "../../../contract/protocols/clients/json.ts";
import { newMessage } from "../../../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { useApp } from "../../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const pgnMaxBytes = 256 * 1024;
const shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(pgnMaxBytes / 16);
/** These empty requests are nearly 256 KiB of JSON. A batch over RPC may have at most 256 KiB. */
const emptyItems = Array.from({ length: 87_000 }, () => ({}));
const head = "1. f3 e5 2. g4 {";
const longest = `${`${head}${'all of this is "said"\n'.repeat(12_000)}`.slice(0, pgnMaxBytes - 10)}} Qh4# 0-1`;

test.each([json, ...rpcProtocols])(
  "a game of 256 KiB with too many plies is refused through $name",
  async (kind) => {
    await using protocol = kind.open(app.url);
    expect(await protocol.call("reviewGame", { pgn: shuffle })).toMatchObject({
      refusal: { code: "out_of_range", message: expect.stringContaining("600") },
    });
  },
);

test.each([json, ...rpcProtocols])(
  "a batch of 256 KiB of empty requests is refused through $name",
  async (kind) => {
    await using protocol = kind.open(app.url);
    expect(await protocol.call("evaluateBatch", { requests: emptyItems })).toMatchObject({
      refusal: { code: "out_of_range", violations: [{ pointer: "/requests" }] },
    });
  },
);

test.each([json, ...rpcProtocols])("a PGN of exactly 256 KiB is reviewed through $name", async (kind) => {
  expect(Buffer.byteLength(longest)).toBe(pgnMaxBytes);
  await using protocol = kind.open(app.url);
  expect(await protocol.call("reviewGame", { pgn: longest, depth: 1 })).toMatchObject({ kind: "answer" });
});

const brackets = "[".repeat(20_000);
test.each(["]".repeat(20_000), brackets])(
  "a body of 20,000 unbalanced brackets is refused through MCP",
  async (body) => {
    const { headers } = newMessage("ping");
    const answer = await fetch(`${app.url}/mcp`, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32700 } }]);
  },
);
