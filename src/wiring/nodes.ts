import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import type { Redis } from "../storage/redis/connection.ts";
import { joinNodes, type Nodes } from "../storage/redis/nodes.ts";
import type { Service } from "./service.ts";
import type { Config } from "./settings.ts";

/** This process among the nodes that share a Redis. */
interface NodeAmongOthers extends Pick<Nodes, "count">, AsyncDisposable {
  /** Announces from now on what this node is and does. */
  present(service: Service, config: Config, port: number): void;
}

export interface AnnouncingTimes {
  /** Between two announcements to other nodes, in milliseconds. */
  readonly announceMs: number;
}

export function joinOthers(
  redis: Redis,
  { announceMs = 2000 }: Partial<AnnouncingTimes> = {},
): NodeAmongOthers {
  const nodes = joinNodes(redis, { id: randomUUID(), everyMs: announceMs });
  return {
    get count() {
      return nodes.count;
    },
    present({ scheduler }, { host, slots }, port) {
      const readyAt = performance.now();
      nodes.announce(() => {
        const { running, waiting } = scheduler.status();
        const address = `http://${shownHost(host)}:${port}`;
        const upMs = Math.round(performance.now() - readyAt);
        return { address, version: manifest.version, upMs, slots, running, waiting };
      });
    },
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

/** The name of this machine instead of the address that means all interfaces: other machines cannot connect to that. */
function shownHost(host: string): string {
  const named = ["0.0.0.0", "::"].includes(host) ? hostname() : host;
  return named.includes(":") ? `[${named}]` : named;
}
