import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Implementation } from "../../../src/calls/call.ts";
import { createHealth } from "../../../src/services/tools/health.ts";
import { createReadiness } from "../../../src/wiring/readiness.ts";
import { transportTo } from "../../support/transport-to.ts";

const names = ["", AnalysisService.typeName, KeyService.typeName];

function start() {
  const readiness = createReadiness();
  const health = createHealth({
    services: [AnalysisService, KeyService],
    ...readiness,
    addressOf: ({ address }) => address,
  });
  const client = createClient(Health, transportTo([health as unknown as Implementation]));
  const watch = (service: string, signal?: AbortSignal) =>
    client.watch({ service }, signal ? { signal } : {})[Symbol.asyncIterator]();
  return { readiness, client, watch };
}

describe("Check", () => {
  test.each(names)(
    "the health call Check for the service %j reports whether the server accepts calls",
    async (service) => {
      const { readiness, client } = start();
      const statuses = [(await client.check({ service })).status];
      for (const state of ["ready", "draining"] as const) {
        readiness.become(state);
        statuses.push((await client.check({ service })).status);
      }
      expect(statuses).toEqual([Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
    },
  );

  test.each(["nope", "chess.analysis.v1", Health.typeName])(
    "the health call Check for the unknown service %j gets NOT_FOUND",
    async (service) => {
      const error: ConnectError = await start()
        .client.check({ service })
        .catch((thrown) => thrown);
      expect(error).toMatchObject({
        code: Code.NotFound,
        rawMessage: `There is no service "${service}" here.`,
      });
    },
  );
});

test("the health call List returns every service, and the server under the empty name", async () => {
  const { readiness, client } = start();
  readiness.become("ready");
  const { statuses } = await client.list({});
  expect(Object.entries(statuses).map(([name, { status }]) => [name, status])).toEqual(
    names.map((name) => [name, Status.SERVING]),
  );
});

describe("Watch", () => {
  test("the health call Watch sends the status immediately and at each change, and ends when the server stops", async () => {
    const { readiness, watch } = start();
    const stream = watch(KeyService.typeName);
    const statuses = [(await stream.next()).value?.status];
    for (const state of ["ready", "draining"] as const) {
      const next = stream.next();
      readiness.become(state);
      statuses.push((await next).value?.status);
    }
    expect(statuses).toEqual([Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
    expect(await stream.next()).toMatchObject({ done: true });
  });

  test("the health call Watch sends a slow reader only the newest status", async () => {
    const { readiness, watch } = start();
    readiness.become("ready");
    const stream = watch("");
    expect((await stream.next()).value).toMatchObject({ status: Status.SERVING });
    readiness.become("draining");
    expect((await stream.next()).value).toMatchObject({ status: Status.NOT_SERVING });
    expect(await stream.next()).toMatchObject({ done: true });
  });

  test("the health call Watch sends SERVICE_UNKNOWN for an unknown service, and stays open until the server stops", async () => {
    const { readiness, watch } = start();
    const stream = watch("nope");
    expect((await stream.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
    const next = stream.next();
    readiness.become("ready");
    expect(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 50, "open"))])).toBe(
      "open",
    );
    readiness.become("draining");
    expect(await next).toMatchObject({ done: true });
  });

  test("the health call Watch removes its listeners when callers disconnect", async () => {
    const { readiness, watch } = start();
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    const leaving = new AbortController();
    const streams = Array.from({ length: 100 }, () => watch("", leaving.signal));
    await Promise.all(streams.map((stream) => stream.next()));
    const rest = streams.map((stream) => stream.next());
    await expect.poll(() => readiness.changes.listenerCount("change")).toBe(100);
    leaving.abort();
    expect((await Promise.allSettled(rest)).map(({ status }) => status)).toEqual(rest.map(() => "rejected"));
    await expect.poll(() => readiness.changes.listenerCount("change")).toBe(0);
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
