import { onTestFinished } from "vitest";
import { createCors } from "../../src/http/listener/cors.ts";
import { createListener, type Listener, type ListenerOptions } from "../../src/http/listener/listener.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { createProbes } from "../../src/http/pages/probes.ts";
import { createWelcome } from "../../src/http/pages/welcome.ts";

export interface Started {
  readonly listener: Listener;
  readonly port: number;
  readonly base: string;
  /** What was logged as an error. */
  readonly errors: readonly object[];
  /** The messages of its warnings. */
  readonly warnings: readonly string[];
}

/** A listener on a free port, with the probes behind the given handlers; stopped when the test ends. */
export async function startListener(
  handlers: readonly RequestHandler[] = [],
  limits: ListenerOptions["limits"] = {},
  cors = createCors(["*"]),
  more: Partial<
    Pick<
      ListenerOptions,
      "connectionsPerAddress" | "callerOf" | "callsPerCaller" | "isRpcPath" | "logRefused"
    >
  > = {},
): Promise<Started> {
  const errors: object[] = [];
  const warnings: string[] = [];
  const log = {
    error: (fields: object) => errors.push(fields),
    warn: (_: object, message: string) => warnings.push(message),
  };
  const probes = createProbes({ ready: () => true, draining: () => listener.draining });
  const listener = createListener({
    handlers: [...handlers, probes, createWelcome()],
    isProbe: (path) => path === "/healthz",
    cors,
    log,
    limits,
    ...more,
  });
  const { port } = await listener.listen("127.0.0.1", 0);
  onTestFinished(() => listener.stop(0));
  return { listener, port, base: `http://127.0.0.1:${port}`, errors, warnings };
}
