import { once } from "node:events";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { createApiKey } from "../../src/access/keys.ts";
import { startStopwatch } from "../support/stopwatch.ts";

const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const longGame = {
  fen: startFen,
  moves: Array.from({ length: 149 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat(),
  depth: 5_000_000_000,
};

export interface Flood {
  readonly path: string;
  readonly bodies: readonly string[];
  readonly headers?: readonly Readonly<Record<string, string>>[];
}

const agentsHeaders = {
  Accept: "application/json, text/event-stream",
  "MCP-Protocol-Version": "2025-11-25",
};

function messageOfAgent(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

function callOfTool(name: string, args: object): string {
  return messageOfAgent("tools/call", { name, arguments: args });
}

const bracketsInPgn = `1. e4 ${"(1. d4 ".repeat(37_000)}`;

/**
 * An earlier version of the service took a long time to refuse these requests. Each refused request reduces the error quota of
 * the caller.
 */
export const refused: Readonly<Record<string, Flood>> = {
  "long games": { path: "/v1/eval", bodies: [JSON.stringify(longGame)] },
  "batches of long games": {
    path: "/v1/eval/batch",
    bodies: [JSON.stringify({ requests: Array.from({ length: 200 }, () => longGame) })],
  },
  "batches that cannot be read": {
    path: "/v1/eval/batch",
    bodies: [
      `{"requests":[${"{},".repeat(340_000)}{}]}`,
      `{"requests":[${'{"x":1,"x":1},'.repeat(70_000)}{}]}`,
      `{"requests":[${"1,".repeat(500_000)}`,
    ],
  },
  "long games in PGN": {
    path: "/v1/review",
    bodies: [
      "(".repeat(250_000),
      `1. e4 ${"(1. d4) ".repeat(32_000)}`,
      bracketsInPgn,
      `${longGame.moves.join(" ")} a1a1`,
    ]
      .map((pgn) => JSON.stringify({ pgn, depth: 30 }))
      .concat(`{"moves":[${'"",'.repeat(170_000)}""]}`),
  },
  "bad FENs, broken JSON, too much for the plan": {
    path: "/v1/eval",
    bodies: [
      JSON.stringify({ fen: "8/8/8/8/8/8/8/8 w - - 0 1" }),
      JSON.stringify({ fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP" }),
      `{"fen":"${startFen}","moves":[${'"e4",'.repeat(10_000)}`,
      JSON.stringify({ fen: startFen, moves: Array.from({ length: 20_000 }, () => "") }),
      JSON.stringify({ fen: startFen, depth: 30 }),
    ],
  },
  "long games that agents ask about": {
    path: "/mcp",
    headers: [agentsHeaders],
    bodies: [
      callOfTool("analyze_position", longGame),
      callOfTool("analyze_position", { pgn: bracketsInPgn }),
      callOfTool("compare_moves", { moves: longGame.moves, candidates: ["Nf3", "a1a1"] }),
      callOfTool("review_game", { pgn: `${longGame.moves.join(" ")} a1a1`, depth: 30 }),
      callOfTool("play_moves", { moves: [...longGame.moves, "a1a1"] }),
    ],
  },
  "messages of agents that are none, and calls of what there is not": {
    path: "/mcp",
    headers: [agentsHeaders],
    bodies: [
      "{",
      "[]",
      JSON.stringify({ jsonrpc: "1.0" }),
      messageOfAgent("tools/burn", {}),
      callOfTool("play_poker", {}),
      callOfTool("play_moves", { moves: "e4" }),
      `[${Array.from({ length: 5000 }, () => messageOfAgent("ping", {})).join()}]`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":[${'"",'.repeat(120_000)}""]}}`,
    ],
  },
};

/**
 * The service refuses these requests because of their headers, before it reads the body. `statuses` lists the expected HTTP
 * statuses.
 */
export const turnedAway: Readonly<Record<string, Flood & { readonly statuses: readonly number[] }>> = {
  "agents of foreign pages and hosts, and with keys that there are not": {
    path: "/mcp",
    headers: [
      { ...agentsHeaders, Origin: "https://evil.example" },
      { ...agentsHeaders, Host: "evil.example" },
      { ...agentsHeaders, Authorization: `Bearer ${createApiKey()}` },
      { ...agentsHeaders, Authorization: "Bearer kbz_none" },
    ],
    bodies: [callOfTool("analyze_position", { moves: longGame.moves })],
    statuses: [401, 403, 429],
  },
};

interface Flooded {
  readonly statuses: ReadonlyMap<number, number>;
  readonly withRetryAfter: number;
  readonly retryAfterS: number | undefined;
}

export const connections = 20;

/**
 * Sends invalid requests over twenty connections until the returned function is called.
 * @param localAddress the address of the caller: each address has its own error quota
 */
export async function floodWithRefusals(
  url: string,
  { path, bodies, headers = [{}] }: Flood,
  localAddress: string,
): Promise<() => Promise<Flooded>> {
  const workerData = { url, path, bodies, headers, localAddress, connections };
  const worker = new Worker(new URL("refusal-flood.ts", import.meta.url), { workerData });
  await once(worker, "message");
  return async () => {
    const ended = once(worker, "message");
    worker.postMessage("stop");
    const [flooded] = (await ended) as [Flooded];
    await worker.terminate();
    return flooded;
  };
}

interface Bystanders {
  /** Response times in milliseconds, without the time in which the caller or the service waited for a processor core. */
  readonly tookMs: readonly number[];
  readonly failed: number;
}

/**
 * Requests the same cached evaluation repeatedly. An address may send only sixty requests a minute, so the caller changes the
 * address after fifty requests.
 * @param network the third number of the addresses `127.0.<network>.1`, `127.0.<network>.2` and so on
 */
export async function askFromCache(
  { url, pid }: { readonly url: string; readonly pid: number },
  network: number,
  forMs: number,
): Promise<Bystanders> {
  const body = JSON.stringify({ fen: startFen, depth: 1 });
  const tookMs: number[] = [];
  let failed = 0;
  const endsAt = performance.now() + forMs;
  for (let address = 1; performance.now() < endsAt; address++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let asked = 0; asked < 50 && performance.now() < endsAt; asked++) {
      const stopwatch = startStopwatch(process.pid, pid);
      const status = await new Promise<number>((resolve) => {
        const headers = { "Content-Type": "application/json" };
        const localAddress = `127.0.${network}.${address}`;
        request(`${url}/v1/eval`, { method: "POST", agent, headers, localAddress }, (res) =>
          res.resume().on("end", () => resolve(res.statusCode ?? 0)),
        )
          .on("error", () => resolve(0))
          .end(body);
      });
      tookMs.push(stopwatch());
      failed += status === 200 ? 0 : 1;
      await sleep(10);
    }
    agent.destroy();
  }
  return { tookMs, failed };
}
