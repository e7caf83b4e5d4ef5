import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import type { Engines } from "../engine/engines.ts";
import type { Log } from "../log/log.ts";
import type { Redis } from "../storage/redis/connection.ts";
import {
  type DifferingEngine,
  differingEngines,
  joinNodes,
  type NodeEngine,
  type Nodes,
} from "../storage/redis/nodes.ts";
import type { Service } from "./service.ts";
import type { Config } from "./settings.ts";

/** This process among the nodes that share a Redis. */
interface NodeAmongOthers extends Pick<Nodes, "count">, AsyncDisposable {
  readonly id: string;
  /** Tells the others what this node is and does, from now on. */
  present(engines: Engines, service: Service, config: Config, port: number): void;
}

export interface AnnouncingTimes {
  /** Between two announcements to other nodes, in milliseconds. */
  readonly announceMs: number;
}

/** Joins the others, and warns of engines that differ from theirs. */
export function joinOthers(
  redis: Redis,
  log: Pick<Log, "info" | "warn">,
  { announceMs = 2000 }: Partial<AnnouncingTimes> = {},
): NodeAmongOthers {
  const id = randomUUID();
  const warn = warnOfDifferences(log);
  const nodes = joinNodes(redis, {
    id,
    onSeen: (reports) => warn(differingEngines(reports)),
    everyMs: announceMs,
  });
  return {
    id,
    get count() {
      return nodes.count;
    },
    present(engines, { scheduler }, { host, slots }, port) {
      const readyAt = performance.now();
      const known: readonly NodeEngine[] = engines.catalog.versions
        .flatMap(({ builds }) => builds)
        .map(({ id, path, sha256 }) => ({ id, path, sha256 }));
      nodes.announce(() => {
        const { running, waiting } = scheduler.standing();
        const address = `http://${shownHost(host)}:${port}`;
        const upMs = Math.round(performance.now() - readyAt);
        return { address, version: manifest.version, upMs, slots, running, waiting, engines: known };
      });
    },
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

/** Others cannot do anything with the address that means all of them. */
function shownHost(host: string): string {
  const named = ["0.0.0.0", "::"].includes(host) ? hostname() : host;
  return named.includes(":") ? `[${named}]` : named;
}

/** Once when they begin to differ, and once when they are the same again. */
function warnOfDifferences(log: Pick<Log, "info" | "warn">) {
  const told = new Map<string, DifferingEngine>();
  return (differing: readonly DifferingEngine[]) => {
    const now = new Map(differing.map((engine) => [`${engine.id} ${engine.path}`, engine]));
    for (const [name, engine] of now) {
      if (!told.has(name)) {
        const { id, path } = engine;
        log.warn({ engine: id, path }, `nodes have different engines of one name: ${shownBuilds(engine)}`);
      }
      told.set(name, engine);
    }
    for (const [name, { id, path }] of told) {
      if (!now.has(name)) {
        told.delete(name);
        log.info({ engine: id, path }, "nodes have the same engine again");
      }
    }
  };
}

/** `12345678 on http://a:8080, http://b:8080; 9abcdef0 on http://c:8080` */
export function shownBuilds({ builds }: DifferingEngine): string {
  return [...builds]
    .map(([sha256, addresses]) => `${sha256.slice(0, 8)} on ${addresses.join(", ")}`)
    .join("; ");
}
