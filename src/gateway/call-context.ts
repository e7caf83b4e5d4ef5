import type { Message } from "@bufbuild/protobuf";
import type { Account } from "../access/account.ts";
import type { Entry } from "../access/entrance.ts";
import type { Caller } from "../caller.ts";
import type { KibitzError } from "../errors/errors.ts";
import { isGone, type NodeResponse } from "../server/node-message.ts";
import type { Route } from "./routes.ts";

/** An item of a batch that could not be read. */
export interface UnreadableItem {
  /** As it was sent. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** What is wrong with it. Takes as long as to check what could be read. */
  explain(): KibitzError;
  /** Reads another in its stead. @throws KibitzError */
  read(sent: Readonly<Record<string, unknown>>): Message;
}

const nothing: ReadonlyMap<number, UnreadableItem> = new Map();

/** What a call knows beside its request. */
export interface CallContext {
  readonly caller: Caller;
  readonly account: Account;
  /** Of a batch, the items that could not be read. */
  readonly unreadable?: ReadonlyMap<number, UnreadableItem>;
  /** Aborted when the caller leaves before the answer is sent. */
  readonly signal: AbortSignal;
  readonly requestMethod: Route["verb"];
}

/**
 * The context of a call that this response answers. Makes the signal when it is first asked for: an answer
 * from the cache may never ask. A class, because an object literal with a getter costs 10 µs a call, a
 * fifth of all.
 */
export class ResponseContext implements CallContext {
  readonly caller: Caller;
  readonly account: Account;
  readonly unreadable: ReadonlyMap<number, UnreadableItem>;
  readonly requestMethod: Route["verb"];
  readonly #res: NodeResponse;
  #signal: AbortSignal | undefined;

  constructor(caller: Caller, { account }: Entry, res: NodeResponse, { verb }: Route, unreadable = nothing) {
    this.caller = caller;
    this.account = account;
    this.unreadable = unreadable;
    this.requestMethod = verb;
    this.#res = res;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#res);
    return this.#signal;
  }
}

function signalOf(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    // The response closes after every answer, too; nobody listens then, and an abort costs more than the call.
    if (!res.writableEnded) {
      controller.abort(new Error("the caller left"));
    }
  };
  if (isGone(res)) {
    leave();
  } else {
    res.once("close", leave);
  }
  return controller.signal;
}
