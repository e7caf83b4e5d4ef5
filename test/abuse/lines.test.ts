import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { exchange, open, rawRequest } from "./raw-http.ts";
import { useService } from "./started-service.ts";

const service = useService();

interface Line {
  readonly requestId: string;
  readonly code: string;
  readonly ms: number;
}

/** The lines of calls so far. */
function lines(): readonly Line[] {
  const printed = service.printed().split("\n");
  return printed.filter((line) => line.includes('"msg":"call"')).map((line) => JSON.parse(line));
}

test.each([
  ["what is no HTTP", "GARBAGE\r\n\r\n", "malformed_http"],
  ["headers that are too large", rawRequest("GET /", [`A: ${"a".repeat(20_000)}`]), "headers_too_large"],
  ["a request of proxies", rawRequest("CONNECT a:1"), "malformed_http"],
])("a request that could not be read has one line, with the id of its answer: %s", async (_, bytes, code) => {
  const received = await exchange(service.port, bytes);
  const id = /^X-Request-Id: (\S+)/im.exec(received)?.[1];
  const own = () => lines().filter(({ requestId }) => requestId === id);
  await vi.waitFor(() => expect(own()).toMatchObject([{ code }]), patienceMs);
});

const head = (id: string) =>
  rawRequest("POST /v1/eval", [
    "Content-Type: application/json",
    `X-Request-Id: ${id}`,
    "Content-Length: 100",
  ]);

test("who leaves in the middle of a body has one line, and was not refused", async () => {
  const { socket: polite } = await open(service.port);
  polite.end(`${head("left-by-fin")}{"fen`);
  const { socket: rude } = await open(service.port);
  rude.write(`${head("left-by-rst")}{"fen`);
  await sleep(300);
  rude.resetAndDestroy();
  const ids = ["left-by-fin", "left-by-rst"];
  const codes = () =>
    ids.map((id) => lines().flatMap(({ requestId, code }) => (requestId === id ? [code] : [])));
  await vi.waitFor(() => expect(codes()).toEqual(ids.map(() => ["canceled"])), patienceMs);
});

test("a refusal takes no longer than its answer, however long its connection is kept behind it", async () => {
  const id = "lingers";
  const more = ["Content-Type: application/json", `X-Request-Id: ${id}`, "Content-Length: 9999999"];
  await exchange(service.port, rawRequest("POST /v1/eval", more, "{"));
  const own = () => lines().filter(({ requestId }) => requestId === id);
  await vi.waitFor(() => expect(own()).toMatchObject([{ code: "body_too_large" }]), patienceMs);
  // It is kept for a second.
  expect(own()[0]?.ms).toBeLessThan(900);
});
