import type { Socket } from "node:net";
import type { Log } from "../../log/log.ts";
import type { NodeRequest, NodeResponse } from "../message.ts";
import type { Full } from "./calls-under-way.ts";
import type { ListenerLimits } from "./limits.ts";

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
  calls:
    "an address has as many calls under way as it may: more are refused. If it is a proxy of yours, name it in KIBITZ_TRUST_PROXY; KIBITZ_CONNECTIONS_PER_ADDRESS sets how many it may",
};

/** Warns that something is full: now and then, however often it is called. */
export type WarnFull = (which: keyof typeof warnings) => void;

export function createFullWarnings(
  { connectionsMax }: ListenerLimits,
  connectionsPerAddress: number,
  callsPerCaller: () => number,
  log: Pick<Log, "warn">,
): WarnFull {
  const counts = { address: () => connectionsPerAddress, all: () => connectionsMax, calls: callsPerCaller };
  const toldAt = new Map<string, number>();
  return (which) => {
    const now = performance.now();
    if (now - (toldAt.get(which) ?? Number.NEGATIVE_INFINITY) >= warnEveryMs) {
      toldAt.set(which, now);
      log.warn({ count: counts[which]() }, warnings[which]);
    }
  };
}

export function createAdmission(
  limits: ListenerLimits,
  connectionsPerAddress: number,
  onFull: WarnFull,
): Admission {
  const isBounded = Number.isFinite(connectionsPerAddress);
  const usual = createPlaces({
    max: limits.connectionsMax,
    maxPerAddress: connectionsPerAddress,
    onFull,
  });
  const spare = createPlaces({
    max: limits.spareConnectionsMax,
    maxPerAddress: isBounded ? limits.spareConnectionsPerAddress : Number.POSITIVE_INFINITY,
  });
  return {
    take(socket, peer, address) {
      const place = usual.take(socket, address);
      const other = typeof place === "string" ? spare.take(socket, address ?? peer, place) : place;
      return typeof other === "string" ? undefined : other;
    },
    cut() {
      for (const { socket } of [...usual, ...spare]) {
        socket.destroy();
      }
    },
  };
}

/** A connection among those that the server holds. */
export interface Place {
  readonly socket: Socket;
  /** The address that it counts for; undefined if it is counted only in all. */
  readonly address: string | undefined;
  /** Of a spare place, which is for one request only: what is full beside it. */
  readonly spareFor: Full | undefined;
  /** Calls that have not ended. Few, and no `Set`: what that has held stays until V8 collects the whole heap. */
  readonly calls: readonly NodeResponse[];
  /** Notes a call until its answer is closed. */
  begin(res: NodeResponse, ended?: () => void): void;
  /** Ends the connection, whatever is under way. By default that of the socket. */
  end: () => void;
}

/** The places that connections take: so many in all, and so many of one address. */
export interface Places extends Iterable<Place> {
  /**
   * A place for a new connection; where there is none left, that of one for which the server has nothing to do. The
   * address that holds most such gives it, and of those the one that has waited longest. What is full if all are in use.
   *
   * @param address whom it counts for; undefined for connections that are counted only in all, and never taken away
   * @param spareFor for a spare place, what is full beside it
   */
  take(socket: Socket, address: string | undefined, spareFor?: Full): Place | Full;
}

export interface PlacesOptions {
  /** In all. */
  readonly max: number;
  /** Of one address. */
  readonly maxPerAddress: number;
  /** Is told that connections are closed or refused for want of places: at every single one. */
  readonly onFull?: WarnFull;
}

/** What one address holds, those without calls in the order in which they have become so. */
interface Holder {
  /** Undefined for all that are counted only in all. */
  readonly address: string | undefined;
  readonly places: Set<Place>;
  /** When it is worth looking again for what could be taken away, by `performance.now()`. */
  lookAt: number;
  /** By when all that were taken away may have been, at an even pace, by `performance.now()`. */
  replacedAt: number;
}

/** The share of all places that is made free at once, so that not every new connection has to look at all of them. */
const freedShare = 0.01;

/** After a look in vain. */
const lookAgainMs = 100;

/**
 * In that time an address may replace all its connections once, at once or one by one. What comes faster is closed
 * unread, which costs half of what it costs the other end.
 */
const replaceAllMs = 10_000;

export function createPlaces(options: PlacesOptions): Places {
  const { max, maxPerAddress, onFull = () => {} } = options;
  const kept = holderFor(undefined);
  const holders = new Map<string, Holder>();
  let taken = 0;
  let lookAt = 0;

  function put(socket: Socket, holder: Holder, spareFor: Full | undefined): Place {
    const open: NodeResponse[] = [];
    const place: Place = {
      socket,
      address: holder.address,
      spareFor,
      calls: open,
      begin(res, ended) {
        open.push(res);
        res.once("close", () => {
          ended?.();
          open.splice(open.indexOf(res), 1);
          // To the end of the line of those without calls.
          if (open.length === 0 && holder.places.delete(place)) {
            holder.places.add(place);
          }
        });
      },
      end: () => socket.destroy(),
    };
    if (holder.address !== undefined) {
      holders.set(holder.address, holder);
    }
    holder.places.add(place);
    taken++;
    socket.once("close", () => leave(place, holder));
    return place;
  }

  function leave(place: Place, { address, places }: Holder): void {
    if (!places.delete(place)) {
      return;
    }
    taken--;
    if (places.size === 0 && address !== undefined) {
      holders.delete(address);
    }
  }

  function end(place: Place, holder: Holder): void {
    leave(place, holder);
    place.end();
  }

  /** Makes room for one more of an address that holds all that it may. */
  function freeOwn(holder: Holder): boolean {
    onFull("address");
    const now = performance.now();
    const replaceOneMs = replaceAllMs / maxPerAddress;
    const replacedAt = Math.max(holder.replacedAt, now - replaceAllMs);
    // Not by a sum, which may be rounded up: the only connection of an address could not be replaced then.
    if (now < holder.lookAt || replacedAt > now - replaceOneMs) {
      return false;
    }
    for (const place of holder.places) {
      if (isWaiting(place)) {
        holder.replacedAt = replacedAt + replaceOneMs;
        end(place, holder);
        return true;
      }
    }
    holder.lookAt = now + lookAgainMs;
    return false;
  }

  /** Makes room for some more, as if each time the address that holds most had to give one. */
  function freeAny(): boolean {
    onFull("all");
    if (performance.now() < lookAt) {
      return false;
    }
    /** By how many of its address are left when they are gone. */
    const byRest: [Place, Holder][][] = [];
    for (const holder of holders.values()) {
      const waiting = [...holder.places].filter(isWaiting);
      for (const [index, place] of waiting.entries()) {
        const rest = waiting.length - 1 - index;
        byRest[rest] ??= [];
        byRest[rest].push([place, holder]);
      }
    }
    const ended = byRest
      .reverse()
      .flat()
      .slice(0, Math.ceil(max * freedShare));
    for (const [place, holder] of ended) {
      end(place, holder);
    }
    if (ended.length === 0) {
      lookAt = performance.now() + lookAgainMs;
    }
    return ended.length > 0;
  }

  return {
    take(socket, address, spareFor) {
      const holder = address === undefined ? kept : (holders.get(address) ?? holderFor(address));
      if (holder !== kept && holder.places.size >= maxPerAddress && !freeOwn(holder)) {
        return "caller";
      }
      if (taken >= max && !freeAny()) {
        return "service";
      }
      return put(socket, holder, spareFor);
    },
    *[Symbol.iterator]() {
      yield* kept.places;
      for (const { places } of holders.values()) {
        yield* places;
      }
    },
  };
}

function holderFor(address: string | undefined): Holder {
  return { address, places: new Set(), lookAt: 0, replacedAt: Number.NEGATIVE_INFINITY };
}

/** Whether the server waits for the other end and has nothing to do for it: no call, half a call, or an answer to be taken. */
function isWaiting({ calls }: Place): boolean {
  for (const res of calls) {
    if (!res.writableEnded && hasArrived(res.req)) {
      return false;
    }
  }
  return true;
}

function hasArrived(req: NodeRequest): boolean {
  return req.complete || ("stream" in req && req.stream.endAfterHeaders);
}
