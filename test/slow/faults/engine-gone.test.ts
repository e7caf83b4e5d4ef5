import { rmSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { writeScript } from "../../engine/write-script.ts";
import { fakeEngineCommandIn } from "../../support/fake-engine/index.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const fakeEngineCommand = fakeEngineCommandIn(folder);
const write = () => writeScript(fakeEngineCommand, "fake", folder);
const file = write();
const app = useApp({
  KIBITZ_NATIVE_ENGINES: file,
  KIBITZ_DEFAULT_ENGINE: "fake-1.0",
  KIBITZ_SLOTS: "1",
  KIBITZ_CACHE_MB: "0",
});

const evaluate = async (engine: string) =>
  (await post(`${app.url}/v1/eval`, { fen: startFen, depth: 4, engine })).status;
const readyz = async () => (await get(`${app.url}/readyz`)).status;
const available = async () => {
  const { body } = await get(`${app.url}/engines`);
  const { engines } = body as { engines: { id: string; paths: { available: boolean }[] }[] };
  return Object.fromEntries(engines.map(({ id, paths }) => [id, paths.map((path) => path.available)]));
};

test("/readyz, health checks and GET /engines report that the default engine cannot start, and later report its recovery", async () => {
  const health = createClient(Health, createGrpcTransport({ baseUrl: app.url }));
  const leaving = new AbortController();
  const watched: Status[] = [];
  const watching = (async () => {
    for await (const { status } of health.watch({}, { signal: leaving.signal })) {
      watched.push(status);
    }
  })().catch(() => {});
  expect([await evaluate("latest"), await readyz()]).toEqual([200, 200]);

  rmSync(file);
  enginesRunning().forEach((pid) => void process.kill(pid, "SIGKILL"));
  await expect.poll(enginesRunning).toEqual([]);
  expect(await evaluate("latest")).toBe(503);
  expect(await readyz()).toBe(503);
  expect(await available()).toMatchObject({ "fake-1.0": [false], "stockfish-19-lite": [true] });
  expect(await evaluate("stockfish-19-lite")).toBe(200);
  expect(await get(`${app.url}/healthz`)).toMatchObject({ status: 200 });

  write();
  await expect.poll(readyz, { timeout: 40_000, interval: 100 }).toBe(200);
  expect(await available()).toMatchObject({ "fake-1.0": [true] });
  expect(await evaluate("latest")).toBe(200);
  expect(watched).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
  leaving.abort();
  await watching;
});
