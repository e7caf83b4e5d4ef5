import type { Socket } from "node:net";
import type { Log } from "../../log/log.ts";
import type { ListenerLimits } from "./listener-limits.ts";
import { createPlaces, type Place } from "./places.ts";

/** Decides which connections are taken. */
export interface Admission {
  /**
   * A place, or a spare one where there is none; undefined where the connection is to be closed.
   *
   * @param peer the other end of the connection
   * @param address whom it counts for; undefined for those that are counted only in all
   */
  take(socket: Socket, peer: string, address: string | undefined): Place | undefined;
  /** Closes all connections. */
  cut(): void;
}

/** A service that is full is so at every new connection. */
const warnEveryMs = 60_000;

const warnings = {
  address:
    "an address holds as many connections as it may: its idle ones are closed for new ones. If it is a proxy of yours, name it in KIBITZ_TRUST_PROXY; KIBITZ_CONNECTIONS_PER_ADDRESS sets how many it may",
  all: "all connections are taken: idle ones are closed for new ones, of the address that holds most",
};

export function createAdmission(
  limits: ListenerLimits,
  connectionsPerAddress: number,
  log: Pick<Log, "warn">,
): Admission {
  const toldAt = { address: Number.NEGATIVE_INFINITY, all: Number.NEGATIVE_INFINITY };
  const onFull = (which: keyof typeof toldAt) => {
    const now = performance.now();
    if (now - toldAt[which] >= warnEveryMs) {
      toldAt[which] = now;
      const count = which === "all" ? limits.connectionsMax : connectionsPerAddress;
      log.warn({ count }, warnings[which]);
    }
  };
  const isBounded = Number.isFinite(connectionsPerAddress);
  const calls = {
    callsMax: limits.streamsInAll,
    callsMaxPerAddress: isBounded ? limits.streamsPerAddress : Number.POSITIVE_INFINITY,
  };
  const usual = createPlaces({
    ...calls,
    max: limits.connectionsMax,
    maxPerAddress: connectionsPerAddress,
    onFull,
  });
  const spare = createPlaces({
    ...calls,
    max: limits.spareConnectionsMax,
    maxPerAddress: isBounded ? limits.spareConnectionsPerAddress : Number.POSITIVE_INFINITY,
    isSpare: true,
  });
  return {
    take: (socket, peer, address) => usual.take(socket, address) ?? spare.take(socket, address ?? peer),
    cut() {
      for (const { socket } of [...usual, ...spare]) {
        socket.destroy();
      }
    },
  };
}
