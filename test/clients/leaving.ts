import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { type RunningApp, useApp } from "../support/running-app.ts";
import { longSearch } from "./cases.ts";
import type { Command } from "./probe.ts";

/** The service has one slot and no cache. If an abandoned search continues, the next request has to wait. */
export function useServiceOfOneEngine(): { readonly app: RunningApp; readonly metrics: Metrics } {
  const metrics = createMetrics("1.2.3");
  const settings = {
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_SLOTS: "1",
    KIBITZ_CACHE_MB: "0",
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  };
  return { app: useApp(settings, { metrics }), metrics };
}

interface WayToLeave {
  readonly way: string;
  readonly command: Command;
  readonly code: string;
  readonly messagesMin: number;
}

const unary: Command = { method: "Evaluate", request: longSearch };
const stream: Command = { method: "StreamEvaluate", request: longSearch };

export const waysToLeave: readonly WayToLeave[] = [
  {
    way: "the deadline of a call",
    command: { ...unary, deadline_ms: 300 },
    code: "DEADLINE_EXCEEDED",
    messagesMin: 0,
  },
  {
    way: "the deadline of a stream",
    command: { ...stream, deadline_ms: 300 },
    code: "DEADLINE_EXCEEDED",
    messagesMin: 0,
  },
  {
    way: "cancelling a call",
    command: { ...unary, cancel_after_ms: 200 },
    code: "CANCELLED",
    messagesMin: 0,
  },
  {
    way: "cancelling a stream",
    command: { ...stream, cancel_after_ms: 200 },
    code: "CANCELLED",
    messagesMin: 0,
  },
  {
    way: "cancelling a stream at its second state",
    command: { ...stream, cancel_after_messages: 2 },
    code: "CANCELLED",
    messagesMin: 2,
  },
];
