import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";

/** A request, or a connection whose request is not known yet. An error that nothing catches ends only its owner. */
export interface Owner {
  /** For the log. Empty for a connection. */
  readonly fields: { readonly requestId?: string; readonly method?: string; readonly request?: string };
  /** Ends the request with an error, or cuts the connection. Does nothing after the end. Never throws. */
  end(error: unknown): void;
}

const owners = new AsyncLocalStorage<Owner | undefined>();
const ownerKey = Symbol("owner");

/** Runs `work` in the context of `owner`: also its timers, promises and callbacks belong to `owner`. Never throws. */
export function runAs(owner: Owner | undefined, work: () => void): void {
  owners.run(owner, safely, work);
}

function safely<A extends readonly unknown[], T>(work: (...args: A) => T, ...args: A): T | undefined {
  try {
    return work(...args);
  } catch (error) {
    // Throw again from a callback, because an error that leaves this function would leave the context of its owner too.
    queueMicrotask(() => {
      throw error;
    });
    return undefined;
  }
}

/** Call this to start what serves all requests, such as an engine: its errors must not be attributed to the first request. */
export function outsideRequests<T>(work: () => T): T {
  return owners.run(undefined, work);
}

/** Returns the owner of the running code, also in the events `uncaughtException` and `unhandledRejection`. */
export function ownerNow(): Owner | undefined {
  return owners.getStore();
}

/**
 * Call this after an uncaught exception. Node (26.10) leaves the context of the exception active, and the next connection of the
 * event loop would belong to the wrong owner.
 */
export function forgetOwner(): void {
  owners.enterWith(undefined);
}

/** Runs all listeners of `emitter` in the context of `owner`. By itself, Node runs many of them in the context of the server. */
export function ownEvents(emitter: EventEmitter, owner: Owner): void {
  const { emit } = emitter;
  (emitter as Owned)[ownerKey] = owner;
  const emitOwn = emit.bind(emitter);
  // An emit takes 0.02 µs, but 0.2 µs if the context has to be changed. Most events are emitted in their own context.
  emitter.emit = (...event) =>
    (owners.getStore() === owner
      ? safely(emitOwn, ...event)
      : owners.run(owner, safely, emitOwn, ...event)) !== false;
}

interface Owned {
  [ownerKey]?: Owner;
}

/** Returns the owner that {@link ownEvents} has set. */
export function ownerOf(emitter: object): Owner | undefined {
  return (emitter as Owned)[ownerKey];
}
