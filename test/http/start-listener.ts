import { onTestFinished } from "vitest";
import { createListener, type Listener, type ListenerOptions } from "../../src/http/listener/listener.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { createProbes } from "../../src/http/pages/probes.ts";
import { createWelcome } from "../../src/http/pages/welcome.ts";
import { sendProblem } from "../../src/http/send-problem.ts";
import { silentLog } from "../../src/log/log.ts";

export interface Started {
  readonly listener: Listener;
  readonly port: number;
  readonly base: string;
  readonly errors: readonly object[];
  readonly warnings: readonly string[];
}

export const unlimitedListener = {
  handlers: [],
  corsOrigins: [],
  log: silentLog,
  isRpcPath: () => false,
  reportRefused: () => {},
  refuse: (error, req, res) => sendProblem(req, res, error),
  callerOf: ({ address }) => address,
  connectionsPerAddress: Number.POSITIVE_INFINITY,
  callsPerCaller: () => Number.POSITIVE_INFINITY,
  kindOf: (path) => (path === "/healthz" ? "probe" : "call"),
  answerProbe: () => false,
  isHeapFull: () => false,
} satisfies ListenerOptions;

/**
 * Starts a server on a free port until the test ends. The server passes each request to `handlers` before the health probes.
 */
export async function startListener(
  handlers: readonly RequestHandler[] = [],
  limits: ListenerOptions["limits"] = {},
  corsOrigins: readonly string[] = ["*"],
  more: Partial<ListenerOptions> = {},
): Promise<Started> {
  const errors: object[] = [];
  const warnings: string[] = [];
  const log = {
    error: (fields: object) => errors.push(fields),
    warn: (_: object, message: string) => warnings.push(message),
  };
  const probes = createProbes({ ready: () => true, draining: () => listener.draining });
  const listener: Listener = createListener({
    ...unlimitedListener,
    handlers: [...handlers, probes, createWelcome()],
    corsOrigins,
    log,
    limits,
    ...more,
  });
  const { port } = await listener.listen("127.0.0.1", 0);
  onTestFinished(() => listener.stop(0));
  return { listener, port, base: `http://127.0.0.1:${port}`, errors, warnings };
}
