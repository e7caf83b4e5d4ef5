import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { newMessage } from "./messages.ts";

const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile(
      { id: "keyless", limits: { rates: [rateOf("minute", 100, 60), rateOf("refusals", 3, 60, "refusal")] } },
      { id: "free", limits: {} },
    ),
  },
  { engines: createEnginesInProcess() },
);

/** The server needs so long to read this PGN that the client can disconnect meanwhile. */
const pgn = `1. e4 ${"(1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7) ".repeat(600)}e5 *`;

function callTool(name: string, args: object) {
  const { headers, body } = newMessage("tools/call", { name, arguments: args });
  const session = connect(app.url);
  const sent = Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]);
  const request = session.request({ ":method": "POST", ":path": "/mcp", ...Object.fromEntries(sent) });
  request.on("error", () => {});
  request.end(JSON.stringify(body));
  return { request, session };
}

async function statusOfCall(): Promise<unknown> {
  const { request, session } = callTool("play_moves", { moves: ["e4"] });
  const status = await new Promise((resolve) => request.once("response", (head) => resolve(head[":status"])));
  session.destroy();
  return status;
}

test("an MCP client that disconnects while the server reads its game uses its error quota", async () => {
  expect(await statusOfCall()).toBe(200);
  for (let wait = 1; wait < 40; wait += 3) {
    const { request, session } = callTool("analyze_position", { pgn, depth: 1 });
    await sleep(wait);
    request.close();
    session.destroy();
  }
  await expect.poll(statusOfCall, { timeout: patienceMs }).toBe(429);
});
