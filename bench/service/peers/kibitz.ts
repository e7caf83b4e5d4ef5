import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer } from "../../../test/support/start-server.ts";
import { makeDataFolder } from "../../data-folder.ts";
import type { Peer, PeerSettings, StartedPeer } from "../peer.ts";
import { loadByWrk } from "../wrk.ts";

/** The node counts each request, but the limits are so high that no request exceeds a limit. */
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
  /** The folder of the Kibitz version to start. The default is this checkout. */
  readonly checkout?: string;
}

export interface StartedKibitz extends StartedPeer {
  readonly server: Server;
  /** Empty if callers have no API key. */
  readonly headers: Readonly<Record<string, string>>;
}

export const kibitz: Peer = {
  name: "Kibitz",
  about:
    "`npm start`, the log at info into a file, callers with a key whose limits are counted and not reached",
  keepsHash: false,
  start: (settings) => startKibitz(settings),
};

export function kibitzBeside(checkout: string): Peer {
  return {
    ...kibitz,
    name: "Kibitz, beside",
    about: "another checkout of Kibitz, started in the same way",
    start: (settings) => startKibitz(settings, { checkout }),
  };
}

export async function startKibitz(
  { engine, slots }: Pick<PeerSettings, "engine" | "slots">,
  { settings = {}, checkout }: KibitzOptions = {},
): Promise<StartedKibitz> {
  const folder = makeDataFolder();
  const plansFile = join(folder, "plans.json");
  writeFileSync(plansFile, JSON.stringify(plans));
  const log = join(folder, "kibitz.log");
  const start = () =>
    startServer(
      {
        PATH: process.env.PATH,
        KIBITZ_ACCESS: "public",
        KIBITZ_PLANS: plansFile,
        KIBITZ_DATA_DIR: folder,
        KIBITZ_SLOTS: String(slots),
        KIBITZ_NATIVE_ENGINES: engine.path === "native" ? engine.command.file : "none",
        KIBITZ_DEFAULT_ENGINE: engine.id,
        ...settings,
      },
      { stdout: openSync(log, "a"), ...(checkout !== undefined && { checkout }) },
    );
  // The first start of a checkout after a change strips the types of all files. This takes 20 MiB until the process ends, and the
  // published package has no types. So measure the second start.
  await (await start()).stop();
  const server = await start();
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
