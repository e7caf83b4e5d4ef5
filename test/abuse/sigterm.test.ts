import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { post } from "./ask.ts";
import { expectProblem } from "./expect-problem.ts";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { answersFrom, open, rawRequest } from "./raw-http.ts";
import { startFen, useService } from "./started-service.ts";

const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };
/** The kernel ends engines with their parent: one that finishes its search first takes longer. */
const engineGoneMaxMs = 10_000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("28: SIGTERM under load", () => {
  const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

  test("SIGTERM finishes calls under way, refuses new ones, ends with 0 although slow clients stay, and leaves no engine", async () => {
    const search = { fen: startFen, depth: 30, movetime_ms: 2500 };
    // On one connection each, and each a search of its own.
    const asked = [0, 1, 2].map((more) => post(`${service.url}/v1/eval`, { ...search, multipv: 1 + more }));
    const streamed = post(`${service.url}/v1/eval/stream`, { ...search, multipv: 4 });

    // Has asked for a search and comes with more behind it.
    const busy = await open(service.port);
    const body = JSON.stringify({ ...search, depth: 29 });
    busy.socket.write(
      rawRequest("POST /v1/eval", ["Content-Type: application/json", `Content-Length: ${body.length}`], body),
    );

    // Those who hold on to what they have.
    const idle = connectHttp2(service.url);
    idle.on("error", () => {});
    const halfHeaders = await openFrames(service.port);
    await halfHeaders.send(frame(frameType.headers, 0, 1, headerBlock(requestFields("GET", "/healthz"))));
    const deaf = await openFrames(service.port, [[4, 0]]);
    await deaf.send(
      frame(
        frameType.headers,
        flag.endHeaders | flag.endStream,
        1,
        headerBlock(requestFields("GET", "/problems")),
      ),
    );
    const slow = await Promise.all(
      [
        "",
        "GET /heal",
        rawRequest("POST /v1/eval", ["Content-Type: application/json", "Content-Length: 100"]),
      ].map(async (bytes) => {
        const client = await open(service.port);
        client.socket.write(bytes);
        return client;
      }),
    );

    await sleep(500);
    const engines = service.engines();
    expect(engines.length).toBeGreaterThan(0);
    const stopping = service.stop();
    await sleep(200);
    busy.socket.write(rawRequest("GET /readyz"));
    const more = JSON.stringify({ fen: startFen, depth: 1 });
    busy.socket.write(
      rawRequest("POST /v1/eval", ["Content-Type: application/json", `Content-Length: ${more.length}`], more),
    );
    const late = connect(service.port, "127.0.0.1");
    const refused = await new Promise<string>((resolve) => {
      late.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      late.on("connect", () => resolve("taken"));
    });
    expect(refused).toBe("ECONNREFUSED");

    for (const { status, body: answer } of await Promise.all(asked)) {
      expect(status, answer).toBe(200);
    }
    expect((await streamed).body).toContain("event: done");
    // Its connection ends with the answer that was under way, or tells what came behind that the server stops.
    const [first, ...rest] = answersFrom(await busy.closed);
    expect(first?.status).toBe(200);
    for (const answer of rest) {
      expectProblem(answer, { status: 503, code: "shutting_down" });
    }
    expect(await stopping).toBe(0);
    expect(stillRunning(engines)).toEqual([]);
    for (const { socket } of [...slow, halfHeaders, deaf]) {
      socket.destroy();
    }
    idle.destroy();
  });
});

test.each([0, 50, 150, 300, 600])(
  "28: SIGTERM %i ms after the start ends the service and its engines",
  async (ms) => {
    const { pid, stderr, ended, stop } = startKibitz(["serve"], env);
    const complaints = text(stderr);
    await sleep(ms);
    const engines = descendantsOf(pid);
    process.kill(pid, "SIGTERM");
    // A stop that waits for something takes 15 s and more.
    expect(await Promise.race([ended.then(() => "ended"), sleep(10_000)])).toBe("ended");
    await stop("SIGKILL");
    expect(await complaints).toBe("");
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), engineGoneMaxMs);
  },
);

describe("28: SIGKILL", () => {
  const service = useService();

  test("SIGKILL while an engine searches for a minute leaves no engine", async () => {
    void service.post("/v1/eval", { fen: startFen, depth: 30, movetime_ms: 60_000 }).catch(() => {});
    await sleep(300);
    const engines = service.engines();
    expect(engines).not.toEqual([]);
    await service.stop("SIGKILL");
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), engineGoneMaxMs);
  });
});
