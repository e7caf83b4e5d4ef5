import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { exchange, open, rawRequest } from "../support/raw-http.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

interface Line {
  readonly requestId: string;
  readonly code: string;
  readonly ms: number;
}

function lines(): readonly Line[] {
  const printed = service.printed().split("\n");
  return printed.filter((line) => line.includes('"msg":"call"')).map((line) => JSON.parse(line));
}

test.each([
  ["what is no HTTP", "GARBAGE\r\n\r\n", "malformed_http"],
  ["headers that are too large", rawRequest("GET /", [`A: ${"a".repeat(20_000)}`]), "headers_too_large"],
  ["a request of proxies", rawRequest("CONNECT a:1"), "malformed_http"],
])(
  "a request that cannot be parsed has one log line, and the line has the request id of the response: %s",
  async (_, bytes, code) => {
    const received = await exchange(service.port, bytes);
    const id = /^X-Request-Id: (\S+)/im.exec(received)?.[1];
    const own = () => lines().filter(({ requestId }) => requestId === id);
    await vi.waitFor(() => expect(own()).toMatchObject([{ code }]), patienceMs);
  },
);

const head = (id: string) =>
  rawRequest("POST /v1/eval", [
    "Content-Type: application/json",
    `X-Request-Id: ${id}`,
    "Content-Length: 100",
  ]);

test("a client disconnect in the middle of a request body writes one log line, with the code canceled", async () => {
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

test("the logged duration of a refused request ends when the response is sent, even if the connection closes later", async () => {
  const id = "lingers";
  const more = ["Content-Type: application/json", `X-Request-Id: ${id}`, "Content-Length: 9999999"];
  const startedAt = performance.now();
  await exchange(service.port, rawRequest("POST /v1/eval", more, "{"));
  const keptMs = performance.now() - startedAt;
  const own = () => lines().filter(({ requestId }) => requestId === id);
  await vi.waitFor(() => expect(own()).toMatchObject([{ code: "body_too_large" }]), patienceMs);
  // The service closes the connection one second after its response, even on a busy machine.
  expect(keptMs - Number(own()[0]?.ms)).toBeGreaterThan(500);
});
