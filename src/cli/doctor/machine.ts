import { availableParallelism, cpus, freemem, totalmem } from "node:os";
import { memoryLimit } from "../../wiring/memory.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, note } from "./finding.ts";

/** What the service runs on, as far as this process can tell. Apart from the looks, so that tests can make machines up. */
export interface Machine {
  readonly nodeVersion: string;
  readonly platform: string;
  readonly arch: string;
  readonly cores: number;
  readonly cpu: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** What the kernel lets this process and its children take, where that is less than there is: of a container. */
  readonly limitBytes: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function thisMachine(): Machine {
  return {
    nodeVersion: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    totalBytes: totalmem(),
    freeBytes: freemem(),
    limitBytes: memoryLimit(),
    now: Date.now(),
  };
}

/** The oldest Node that is tested. */
const nodeMin = 24;

/** When this was written: a clock that is before it is wrong. */
const earliest = Date.parse("2026-11-22");

/** What one engine of the default build takes under load, in bytes, with a hash table of 16 MiB. */
const engineBytes = 600e6;

const inGb = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;

export function* lookAtMachine(machine: Machine, config: Config): Iterable<Finding> {
  const { nodeVersion, platform, arch, cores, cpu, now } = machine;
  yield Number.parseInt(nodeVersion, 10) >= nodeMin
    ? good("node", `Node.js ${nodeVersion}`)
    : bad("node", `Node.js ${nodeVersion}`, `Kibitz needs Node.js ${nodeMin} or newer.`);
  const where = `${platform} on ${arch}, ${cores} ${cores === 1 ? "core" : "cores"} (${cpu})`;
  yield platform === "linux"
    ? good("platform", where)
    : note(
        "platform",
        where,
        "Engines are confined on Linux only: elsewhere they run with the server's rights.",
      );
  yield now >= earliest
    ? good("clock", new Date(now).toISOString())
    : bad("clock", new Date(now).toISOString(), "Set the clock: keys and limits of a day go by it.");
  yield memoryFinding(machine, config);
  if (config.slots * config.threads > cores) {
    const asked = `${config.slots} slots with ${config.threads === 1 ? "one thread" : `${config.threads} threads`} each on ${cores} cores`;
    yield note(
      "slots",
      asked,
      "Searches will take turns: KIBITZ_SLOTS times KIBITZ_THREADS should be the cores at most.",
    );
  } else {
    yield good(
      "slots",
      `${config.slots} at a time, ${config.threads === 1 ? "one thread" : `${config.threads} threads`} each`,
    );
  }
}

function memoryFinding(
  { totalBytes, freeBytes, limitBytes }: Machine,
  { slots, hashMb, engineMemoryMb }: Config,
): Finding {
  const there = limitBytes ?? totalBytes;
  const needed = slots * (engineBytes + Math.max(0, hashMb - 16) * 1.05e6);
  const found = `${inGb(there)}${limitBytes === undefined ? "" : " (limit of this container)"}, ${inGb(freeBytes)} free; ${slots} engines take up to ${inGb(needed)}`;
  if (needed > there) {
    return bad("memory", found, "Ask for fewer KIBITZ_SLOTS, or give the machine more memory.");
  }
  if (engineMemoryMb * 1e6 < needed) {
    return note(
      "memory",
      `${found}, and KIBITZ_ENGINE_MEMORY_MB allows ${inGb(engineMemoryMb * 1e6)}`,
      "Full networks will be ended and started again; raise KIBITZ_ENGINE_MEMORY_MB, or ask for fewer KIBITZ_SLOTS.",
    );
  }
  return good("memory", found);
}

/** Who can reach the service, and whom it takes its callers for. */
export function* lookAtProxies({ host, trustProxy, access }: Config): Iterable<Finding> {
  const isLocal = /^(127\.|::1$|localhost$)/.test(host);
  if (trustProxy.length > 0) {
    yield good("proxies", `X-Forwarded-For is believed of ${trustProxy.join(", ")}`);
  } else if (isLocal) {
    yield good("proxies", `none, and only this machine can ask (${host})`);
  } else {
    yield note(
      "proxies",
      `none is trusted, and callers from elsewhere can ask (${host})`,
      "Behind a proxy all callers would be one: name it in KIBITZ_TRUST_PROXY. Without one, keys travel unencrypted.",
    );
  }
  if (access === "open" && !isLocal) {
    yield note(
      "access",
      `everybody from elsewhere may ask without limits`,
      "KIBITZ_ACCESS=public or keys sets limits.",
    );
  } else {
    yield good("access", access);
  }
}
