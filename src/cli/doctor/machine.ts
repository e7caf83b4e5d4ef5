import { availableParallelism, totalmem } from "node:os";
import { memoryBytes } from "../../wiring/memory.ts";
import type { Config } from "../../wiring/settings.ts";
import { plural } from "../style.ts";
import { bad, type Finding, good, note } from "./finding.ts";

/** The machine that the service runs on. */
export interface Machine {
  readonly platform: string;
  readonly cores: number;
  /** Bytes for this process and its children: of the machine, or the limit of its container. */
  readonly memoryBytes: number;
}

export function thisMachine(): Machine {
  return { platform: process.platform, cores: availableParallelism(), memoryBytes: memoryBytes() };
}

/** Memory of one engine of the default build under load, in bytes, with a hash table of 16 MiB. */
const engineBytes = 600e6;

const inGb = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;

export function* checkMachine(machine: Machine, { slots, threads, hashMb }: Config): Iterable<Finding> {
  const { platform, cores } = machine;
  const found = `Node.js ${process.versions.node}, ${platform} on ${process.arch}, ${plural(cores, "core")}`;
  yield platform === "linux"
    ? good("machine", found)
    : note(
        "machine",
        found,
        "Engines are sandboxed on Linux only: elsewhere they run with the server's rights.",
      );
  const neededBytes = slots * (engineBytes + Math.max(0, hashMb - 16) * 1.05e6);
  const limited = machine.memoryBytes < totalmem() ? " (limit of this container)" : "";
  const memory = `${inGb(machine.memoryBytes)}${limited}; ${slots} engines take up to ${inGb(neededBytes)}`;
  yield neededBytes > machine.memoryBytes
    ? bad("memory", memory, "Set fewer KIBITZ_SLOTS, or give the machine more memory.")
    : good("memory", memory);
  const searches = `${plural(slots, "slot")}, ${plural(threads, "thread")} each, on ${plural(cores, "core")}`;
  yield slots * threads > cores
    ? note(
        "slots",
        searches,
        "Searches will take turns: KIBITZ_SLOTS times KIBITZ_THREADS should be the cores at most.",
      )
    : good("slots", searches);
}

/** Checks which callers can reach the service, and how it tells them apart. */
export function* checkCallers({ host, trustProxy, access }: Config): Iterable<Finding> {
  const isLocal = /^(127\.|::1$|localhost$)/.test(host);
  if (trustProxy.length > 0) {
    yield good("proxies", `X-Forwarded-For is trusted from ${trustProxy.join(", ")}`);
  } else if (isLocal) {
    yield good("proxies", `none, and only this machine can connect (${host})`);
  } else {
    yield note(
      "proxies",
      `none is trusted, and other machines can connect (${host})`,
      "Behind a proxy all callers would be one: name it in KIBITZ_TRUST_PROXY. Without one, keys travel unencrypted.",
    );
  }
  yield access === "open" && !isLocal
    ? note(
        "access",
        "other machines may ask without limits (open)",
        "KIBITZ_ACCESS=public or keys sets limits.",
      )
    : good("access", access);
}
