import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { askThere } from "../../src/cli/ask-there.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { freePort } from "../support/free-port.ts";
import { patienceMs } from "../support/patience.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { selfSigned } from "../support/self-signed.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { newKey } from "./new-key.ts";
import { runKibitz, spawnKibitz } from "./run-kibitz.ts";

const engines = createEnginesInProcess();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile(
      { id: "keyless", limits: { depth_max: 14, rates: [rateOf("second", 20, 1)] } },
      { id: "free", limits: { rates: [rateOf("minute", 100_000, 60)] } },
    ),
  },
  { engines },
);

const folder = useTemporaryFolder();
const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const remotely = (...args: readonly string[]) => runKibitz([...args, "--url", app.url]);

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const forward = (prefix: string) =>
  ((req, res) => {
    const path = req.url?.replace(prefix, "");
    const forwarded = request(app.url + path, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(forwarded);
  }) satisfies Parameters<typeof createHttpServer>[1];

describe("--url", () => {
  test("kibitz eval --url prints the same text as kibitz eval", async () => {
    const { code, stdout, stderr } = await remotely("eval", "startpos", "-d", "5", "-n", "2");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^.+ Best move: .+\.\n\n +\S+ +\d+\.\d % +\S.*\n +\S+ +\d+\.\d % +\S.*\n\n/);
    expect(stdout).toMatch(/\nStockfish 19 Lite in process \(wasm\), depth 5, 100 nodes in \d+ ms\n$/);
  });

  test("kibitz eval --url sends the trace of its environment to the service", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const env = { TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01`, TRACESTATE: "vendor=1" };
    for (const args of [
      ["eval", "startpos", "-d", "2"],
      ["bestmove", "startpos", "-d", "2"],
    ]) {
      expect((await runKibitz([...args, "--url", app.url], env)).code).toBe(0);
    }
    const lines = app.logged.filter((line) => "trace_id" in line && line.trace_id === traceId);
    expect(lines).toHaveLength(2);
  });

  test("kibitz eval --url --json prints the response of the API", async () => {
    const { stdout } = await remotely("eval", "startpos", "-m", "e4", "-d", "4", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
      terminal: null,
      search: { depth: 4, stop_reason: "depth" },
    });
    const move = await remotely("bestmove", "startpos", "-d", "4", "--json");
    const answer = await fetch(`${app.url}/v1/bestmove`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fen: "startpos", depth: 4 }),
    });
    const { id: _, search, ...same } = (await answer.json()) as Record<string, object>;
    expect(JSON.parse(move.stdout)).toMatchObject(same);
    expect(Object.keys(JSON.parse(move.stdout).search)).toEqual(Object.keys(search ?? {}));
  });

  test("kibitz bestmove --url prints the move, or the result of a finished game", async () => {
    expect((await remotely("bestmove", "startpos", "-d", "4")).stdout).toMatch(/^1\. \S+ \(\w{4}\), \S+/);
    const mate = await remotely("bestmove", "8/8/8/8/8/5k2/5q2/5K2 w - - 0 1");
    expect(mate).toMatchObject({ code: 0, stdout: "Checkmate: Black has won.\n" });
  });

  test("--url accepts a service with a path, and a service with TLS", async () => {
    const plain = await listening(createHttpServer(forward("/chess/kibitz")));
    const there = await runKibitz(["eval", "startpos", "-d", "3", "--url", `http://${plain}/chess/kibitz/`]);
    expect(there).toMatchObject({ code: 0, stderr: "" });
    const secure = await listening(createHttpsServer(selfSigned, forward("/chess")));
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, selfSigned.cert);
    const args = ["eval", "startpos", "-d", "3", "--url", `https://${secure}/chess`];
    expect(await spawnKibitz(args, { NODE_EXTRA_CA_CERTS: authority })).toMatchObject({
      code: 0,
      stderr: "",
    });
    const untrusted = await runKibitz(args);
    expect(untrusted).toMatchObject({ code: 1, stdout: "" });
    expect(untrusted.stderr).toMatch(/certificate of .+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
    const asPlain = await runKibitz(["eval", "startpos", "--url", `http://${secure}`]);
    expect(asPlain.stderr).toMatch(
      /^kibitz: (what listens at .+ does not answer in HTTP|the connection to )/,
    );
  });
});

describe("errors of a service", () => {
  test("an error that a service sends is printed with a corrected request or a larger plan", async () => {
    const { code, stderr } = await remotely("eval", start, "--depth", "0");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^kibitz: .*`depth`.*\n/);
    expect(stderr).toContain(`kibitz: try: {"fen":"${start}","depth":1}\n`);
    const deep = await remotely("eval", start, "--depth", "15");
    expect(deep.stderr).toMatch(
      /try: .+"depth":14.+\n.*the plan free allows it: http:.+\/v1\/keys\n.*KIBITZ_API_KEY or with --key/,
    );
  });

  test("with --json, an error from the service is printed as a problem document", async () => {
    const { code, stdout, stderr } = await remotely("eval", "start", "--json");
    expect([code, stderr]).toEqual([2, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 400,
      code: "invalid_fen",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      errors: [{ pointer: "/fen", code: "invalid_fen" }, { pointer: "/fen" }],
      retry_after_ms: null,
    });
  });

  test("--key selects the plan of the key, and a wrong key is refused", async () => {
    const args = ["eval", start, "--depth", "15", "--url", app.url];
    const key = await newKey(app.url);
    expect(await runKibitz(args, { KIBITZ_API_KEY: key })).toMatchObject({ code: 0 });
    expect(await runKibitz([...args, "--key", key])).toMatchObject({ code: 0 });
    const wrong = await runKibitz(args, { KIBITZ_API_KEY: `${key.slice(0, -1)}!` });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/check the API key in KIBITZ_API_KEY or --key\n$/);
    expect(wrong.stderr).not.toContain(key.slice(0, -1));
  });
});

describe("a file of positions", () => {
  const fileOf = (count: number) => {
    const file = join(folder, `${count}.epd`);
    writeFileSync(file, `${start}\n`.repeat(count));
    return file;
  };

  test("kibitz eval --file sends a large file in several batches, and waits for the rate limit", async () => {
    const { code, stdout, stderr } = await remotely("eval", "-f", fileOf(45), "-d", "3");
    expect(code).toBe(0);
    expect(stdout.match(/^ +\d+ /gm)?.map(Number)).toEqual(
      Array.from({ length: 45 }, (_, index) => index + 1),
    );
    expect(stderr).toMatch(/^(kibitz: rate limited, retrying in 1 s\n)+kibitz: 45 positions\n$/);
  });

  test("kibitz eval --file reports an invalid position with its line, and accepts a FEN in quotation marks", async () => {
    const file = join(folder, "bad.epd");
    writeFileSync(file, `"${start}"\n8/8/8/8/8/8/8/8 w - -\n`);
    const { code, stdout, stderr } = await runKibitz(["eval", "-f", file, "--url", app.url, "--json"], {
      KIBITZ_API_KEY: await newKey(app.url),
    });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.toSorted((a, b) => a.index - b.index)).toMatchObject([
      { index: 0, line: 1, problem: null },
      { index: 1, line: 2, result: null, problem: { code: "illegal_position" } },
    ]);
    expect([code, stderr]).toEqual([
      2,
      `kibitz: line 1 was read as ${start}\nkibitz: 2 positions, 1 refused\n`,
    ]);
  });
});

describe("without a service", () => {
  const evalAt = (url: string) => runKibitz(["eval", "startpos", "--url", url]);

  test("--url exits with 1 and explains why the service does not respond", async () => {
    const port = await freePort();
    expect(await evalAt(`http://127.0.0.1:${port}`)).toEqual({
      code: 1,
      stdout: "",
      stderr: `kibitz: nothing is listening at http://127.0.0.1:${port}/ (ECONNREFUSED): start a service there with kibitz serve, or correct --url\n`,
    });
    expect((await evalAt("http://kibitz.invalid")).stderr).toMatch(
      /^kibitz: the name kibitz\.invalid cannot be found/,
    );
    expect((await evalAt(app.url.replace("http:", "https:"))).stderr).toMatch(
      /no TLS connection to .+: if the service has no TLS, write http:/,
    );
  });

  test("--url explains that another program has responded", async () => {
    const other = await listening(
      createHttpServer((req, res) => {
        res.writeHead(req.url?.startsWith("/gateway/") ? 502 : 200, { "content-type": "text/html" });
        res.end("<h1>Welcome</h1>");
      }),
    );
    expect((await evalAt(`http://${other}`)).stderr).toMatch(
      /is not Kibitz \(unsupported content type text\/html\)/,
    );
    expect((await evalAt(`http://${other}/gateway`)).stderr).toMatch(/says HTTP 502: ask again later/);
    expect((await evalAt(`${app.url}/nowhere`)).stderr).toMatch(
      /is not a method of this service\.\nkibitz: the service is of another version, or --url has a path too many\n$/,
    );
  });

  test("--url reports a service that disconnects or does not respond", async () => {
    const broken = await listening(createServer((socket) => socket.once("data", () => socket.destroy())));
    expect((await evalAt(`http://${broken}`)).stderr).toMatch(
      /^kibitz: the connection to .+ broke off .+: ask again\n$/,
    );
    const silent = await listening(createServer((socket) => void socket.resume()));
    await using remote = askThere({ url: `http://${silent}`, key: undefined }, { silenceMaxMs: 100 });
    const { evaluate } = createClient(AnalysisService, remote.transport);
    await expect(evaluate({ fen: start })).rejects.toThrow(/was silent for 0\.1 s: look whether/);
  });
});

describe("leaving", () => {
  const search = async (signal: AbortSignal) => {
    const remote = askThere({ url: app.url, key: await newKey(app.url) });
    const { streamEvaluate } = createClient(AnalysisService, remote.transport);
    const answers = Array.fromAsync(streamEvaluate({ fen: start, depth: 30 }, { signal }));
    const ended = answers.then(
      () => "with its answer",
      (error: Error) => error,
    );
    await vi.waitFor(() => expect(engines.searching).toBe(1), patienceMs);
    return { remote, ended };
  };

  test("a search at a service is cancelled by its abort signal", async () => {
    const leaving = new AbortController();
    const { remote, ended } = await search(leaving.signal);
    const reason = new Error("Ctrl-C");
    leaving.abort(reason);
    expect(await ended).toBe(reason);
    await vi.waitFor(() => expect(engines.searching).toBe(0), patienceMs);
    await remote[Symbol.asyncDispose]();
  });

  test("a search at a service is cancelled when the connection is closed", async () => {
    const { remote, ended } = await search(new AbortController().signal);
    await remote[Symbol.asyncDispose]();
    expect(await ended).toMatchObject({ message: expect.stringContaining("broke off") });
    await vi.waitFor(() => expect(engines.searching).toBe(0), patienceMs);
  });

  test("a search at a service whose response is no longer read does not keep the process alive", async () => {
    const silenceMaxMs = 54_321;
    const begun = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => begun.mockRestore());
    const remote = askThere({ url: app.url, key: await newKey(app.url) }, { silenceMaxMs });
    const { streamEvaluate } = createClient(AnalysisService, remote.transport);
    await streamEvaluate({ fen: start, depth: 30 })[Symbol.asyncIterator]().next();
    const timers = begun.mock.results.filter((_, index) => begun.mock.calls[index]?.[1] === silenceMaxMs);
    expect(timers.map(({ value }) => value.hasRef())).toEqual([false]);
    await remote[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(engines.searching).toBe(0), patienceMs);
  });
});
