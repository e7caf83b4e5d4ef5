import type { Interceptor } from "@connectrpc/connect";
import type { Implementation } from "../calls/invoke.ts";
import { readMaxBytesOf } from "../calls/policy.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { Log } from "../log/log.ts";
import { type ConnectAdapter, createConnectAdapter } from "../protocols/connect/adapter.ts";
import type { DecodeBody } from "../protocols/connect/decode-body.ts";
import { connectErrorFrom } from "../protocols/connect/errors.ts";
import { type Admittance, createHandlers } from "../protocols/connect/handlers.ts";

export interface RpcOptions {
  readonly implementations: readonly Implementation[];
  readonly chain: readonly Interceptor[];
  /** Everybody is let in without. */
  readonly admittance?: Admittance;
  readonly decodeBody?: DecodeBody;
  readonly bodies: BodyBudget;
  readonly log: Log;
}

/** Connect's handlers for methods behind a chain. */
export function createRpc({
  implementations,
  chain,
  admittance,
  decodeBody,
  bodies,
  log,
}: RpcOptions): ConnectAdapter {
  return createConnectAdapter({
    handlers: createHandlers(implementations, chain, readMaxBytesOf, bodies, admittance),
    ...(admittance && { refusing: admittance.refusing }),
    explain: connectErrorFrom,
    ...(decodeBody && { decodeBody }),
    readMaxBytesOf,
    bodies,
    log,
  });
}
