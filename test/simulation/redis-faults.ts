/** A window of virtual time in which Redis goes wrong. */
interface FaultWindow {
  /** The number of the node. If undefined, the fault concerns all nodes. */
  readonly node?: number | undefined;
  readonly atMs: number;
  readonly forMs: number;
}

type Failure =
  /** The connections break, and new connections are refused. */
  | { readonly kind: "redis is gone" }
  /** Nothing arrives in either direction. What was sent meanwhile is lost. */
  | { readonly kind: "redis is cut off" }
  /** Redis executes the commands of this window at its end, even if their connection has been closed by then. */
  | { readonly kind: "redis is paused" }
  /** Redis executes each command this much later. */
  | { readonly kind: "redis is slow"; readonly byMs: number }
  /** Redis executes each command in time, but its reply arrives this much later. */
  | { readonly kind: "redis answers late"; readonly byMs: number }
  /** The connection breaks with a command on its way, before or after Redis has executed the command. */
  | {
      readonly kind: "redis loses a connection";
      readonly isExecuted: boolean;
      /** The largest number of connections that break. */
      readonly times: number;
    }
  /** Redis does not run in this window. Then it knows no scripts, and no data either unless it has kept the data. */
  | { readonly kind: "redis restarts"; readonly keepsData: boolean }
  | { readonly kind: "redis refuses commands"; readonly because: Refusal }
  /** Redis's clock is ahead by this time, or behind if the time is negative. */
  | { readonly kind: "redis has another time"; readonly byMs: number };

/** `LOADING` concerns all commands, the others concern writes. */
export type Refusal = "OOM" | "READONLY" | "MISCONF" | "LOADING";

/** Data that can be written as JSON. A scenario contains these, and leaves them out one by one to shrink. */
export type RedisFault = FaultWindow & Failure;

export type RedisFaultKind = RedisFault["kind"];
