import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accepts } from "../../tools/cluster/companions.ts";
import { startProgram } from "../../tools/cluster/programs.ts";
import { freePort } from "../support/free-port.ts";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { rawRequest } from "../support/raw-http.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { watchHealth } from "./health-watch.ts";
import { askAsOthers, type Leaving, sendAndLeave } from "./leavers.ts";
import { longGame } from "./long-game.ts";
import { type StartedService, useService } from "./started-service.ts";

const game = longGame();
const json = "Content-Type: application/json";
const postOf = (path: string, body: object, headers: readonly string[] = []) => {
  const text = JSON.stringify(body);
  return rawRequest(`POST ${path}`, [json, `Content-Length: ${text.length}`, ...headers], text);
};

/** With "!", the service must correct each candidate, and plays the game for this purpose. */
const candidates = ["a3!", "a4!", "b3!", "b4!", "c3!", "c4!", "d3!", "d4!", "Na3!", "Nc3!"];
const compareMoves = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "compare_moves", arguments: { moves: game.slice(0, 590), candidates } },
};

const attackMs = 5_000;
const leaveMs = 3;

const attacks: readonly (readonly [name: string, attack: Pick<Leaving, "request" | "connections">])[] = [
  ["a review over 8 connections", { request: postOf("/v1/review", { pgn: game.join(" ") }), connections: 8 }],
  [
    "a review over many connections",
    { request: postOf("/v1/review", { pgn: game.join(" ") }), connections: 128 },
  ],
  [
    "compare_moves over MCP",
    {
      request: postOf("/mcp", compareMoves, ["Accept: application/json, text/event-stream"]),
      connections: 128,
    },
  ],
  [
    "an evaluation of 600 moves",
    { request: postOf("/v1/eval", { fen: "startpos", moves: game, depth: 1 }), connections: 128 },
  ],
];

const othersWant = { fen: "startpos", moves: longGame(100), depth: 4 };

const grownMaxBytes = 200e6;

async function expectHarmless(
  service: StartedService,
  attack: Omit<Leaving, "forMs" | "leaveMs" | "port"> & Partial<Leaving>,
): Promise<void> {
  const stopWatching = await watchHealth(service, 60);
  const stopAsking = askAsOthers(service, othersWant);
  const sent = await sendAndLeave({ port: service.port, forMs: attackMs, leaveMs, ...attack });
  const others = await stopAsking();
  const health = await stopWatching();
  const seen = JSON.stringify({ sent, others, health });
  expect(sent).toBeGreaterThan(attack.connections);
  expect(health.failed, seen).toBe(0);
  expect(health.p95Ms, seen).toBeLessThanOrEqual(100);
  expect(health.grownBytes, seen).toBeLessThan(grownMaxBytes);
  expect(Object.keys(others.statuses), seen).toEqual(["200"]);
}

/** Tests the attacks for which `isTested` returns true. */
export function testAbandonedWork(isTested: (plans: string, attack: string) => boolean): void {
  describe.each([
    ["with the built-in plans", attacks, {}],
    [
      "with plans that have no error quota",
      // Without a quota, the service begins to read every game. More clients would only use the processor time of the machine.
      attacks
        .filter((_, row) => row !== 1)
        .map(([name, attack]) => [name, { ...attack, connections: 8 }] as const),
      {
        KIBITZ_PLANS: usePlansFile(
          { id: "keyless", limits: { concurrent: 2, rates: [rateOf("minute", 1_000_000, 60)] } },
          { id: "free", limits: {} },
        ),
      },
    ],
  ])("45: clients that leave, %s", (plans, ownAttacks, settings) => {
    const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_ALLOWED_HOSTS: "x", ...settings });

    const rows = ownAttacks.map(([name, attack], index) => [name, attack, `127.0.41.${index + 1}`] as const);

    test.each(rows.filter(([name]) => isTested(plans, name)))(
      `a client that sends %s, and disconnects after 3 ms, harms no other client ${plans}`,
      async (_, attack, localAddress) => {
        await expectHarmless(service, { ...attack, localAddress });
      },
    );
  });

  describeWith("haproxy")("45: clients that leave, behind HAProxy", () => {
    const folder = useTemporaryFolder();
    const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_TRUST_PROXY: "127.0.0.1" });

    test("a client that sends a review through HAProxy, and resets its connection after 12 ms, harms no other client", async () => {
      const port = await freePort();
      const config = join(folder, "haproxy.cfg");
      const written = readFileSync(new URL("../../deploy/haproxy/tls.cfg", import.meta.url), "utf8");
      const text = written
        .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
        .replace("127.0.0.1:8080", `127.0.0.1:${service.port}`);
      writeFileSync(config, text);
      await using _ = await startProgram("haproxy", ["-db", "-f", config], {
        isReady: () => accepts(`127.0.0.1:${port}`),
      });
      const request = postOf("/v1/review", { pgn: game.join(" ") });
      await expectHarmless(service, {
        port,
        request,
        connections: 8,
        leaveMs: 12,
        leave: "reset",
        localAddress: "127.0.42.1",
      });
    });
  });
}
