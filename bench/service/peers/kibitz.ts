import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer } from "../../../test/support/start-server.ts";
import { makeDataFolder } from "../../data-folder.ts";
import type { Peer, PeerSettings, StartedPeer } from "../peer.ts";
import { loadByWrk } from "../wrk.ts";

/** Everything is counted, and nothing is reached. */
const plans = {
  plans: [
    {
      id: "free",
      limits: {
        concurrent: 10_000,
        rates: [
          { name: "minute", quota: 1e9, window_s: 60, unit: "request" },
          { name: "engine-day", quota: 1e9, window_s: 86_400, unit: "engine_ms" },
          { name: "refusals", quota: 120, window_s: 60, unit: "refusal" },
        ],
      },
    },
  ],
};

export interface KibitzOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Another checkout, run by its own Node. */
  readonly checkout?: string;
  /** Flags of Node. */
  readonly nodeOptions?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface StartedKibitz extends StartedPeer {
  readonly server: Server;
  /** With the key, if callers have one. */
  readonly headers: Readonly<Record<string, string>>;
}

/** As users start it: the log at info, into a file; every caller with one key, whose limits are counted. */
export const kibitz: Peer = {
  name: "Kibitz",
  about:
    "`npm start`, the log at info into a file, callers with a key whose limits are counted and not reached",
  keepsHash: false,
  start: (settings) => startKibitz(settings),
};

export const kibitzOpen: Peer = {
  name: "Kibitz, open",
  about: "the same with `KIBITZ_ACCESS=open`: nobody has a key, and there are no limits",
  keepsHash: false,
  start: (settings) => startKibitz(settings, { settings: { KIBITZ_ACCESS: "open" } }),
};

export const kibitzUnstored: Peer = {
  name: "Kibitz, nothing stored",
  about:
    "the same as Kibitz with `KIBITZ_STORE_MB=0`: what it takes to store answers, and to look for them, is left out",
  keepsHash: false,
  start: (settings) => startKibitz(settings, { settings: { KIBITZ_STORE_MB: "0" } }),
};

/** The Kibitz of another checkout, to see what a change brings. */
export function kibitzBeside(checkout: string): Peer {
  return {
    ...kibitz,
    name: "Kibitz, beside",
    about: "another checkout of Kibitz, started in the same way",
    start: (settings) => startKibitz(settings, { checkout }),
  };
}

export async function startKibitz(
  { engine, slots }: PeerSettings,
  { settings = {}, checkout, nodeOptions = "", env = {} }: KibitzOptions = {},
): Promise<StartedKibitz> {
  const folder = makeDataFolder();
  const plansFile = join(folder, "plans.json");
  writeFileSync(plansFile, JSON.stringify(plans));
  const log = join(folder, "kibitz.log");
  const server = await startServer(
    {
      PATH: process.env.PATH,
      NODE_OPTIONS: nodeOptions,
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: plansFile,
      KIBITZ_DATA_DIR: folder,
      KIBITZ_SLOTS: String(slots),
      KIBITZ_NATIVE_ENGINES: engine.path === "native" ? engine.command.file : "none",
      KIBITZ_DEFAULT_ENGINE: engine.id,
      ...settings,
      ...env,
    },
    { stdout: openSync(log, "a"), ...(checkout !== undefined && { checkout }) },
  );
  const { url, pid, stop } = server;
  const headers: Readonly<Record<string, string>> =
    settings.KIBITZ_ACCESS === "open" ? {} : { authorization: `Bearer ${await newKey(url)}` };
  return {
    server,
    headers,
    pid,
    stop: () => stop(),
    load: (load) =>
      loadByWrk({ ...load, url: `${url}/v1/eval`, headers }).catch((error) => {
        throw new Error(`${load.callers} callers: ${error}\n${refusalsIn(log)}`);
      }),
    async bestMoveOf(fen, depth) {
      const response = await fetch(`${url}/v1/eval`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ fen, depth }),
      });
      const answer = (await response.json()) as { readonly best_move?: { readonly uci: string } };
      if (answer.best_move === undefined) {
        throw new Error(`Kibitz has answered ${response.status}: ${JSON.stringify(answer)}`);
      }
      return answer.best_move.uci;
    },
  };
}

/** The last lines of the log that tell of a failure. */
function refusalsIn(log: string): string {
  const lines = readFileSync(log, "utf8").split("\n");
  return lines
    .filter((line) => !/"code":"(ok|canceled)"/.test(line))
    .slice(-5)
    .join("\n");
}

async function newKey(url: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/keys`, { method: "POST", headers, body: "{}" });
  const { key } = (await answer.json()) as { readonly key?: string };
  if (key === undefined) {
    throw new Error(`no key was issued: ${answer.status}`);
  }
  return key;
}
