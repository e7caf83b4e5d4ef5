import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fromJson } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { accepts } from "../../tools/cluster/companions.ts";
import { type Program, startProgram } from "../../tools/cluster/programs.ts";
import { protoJsonFromPlain } from "../contract/protocols/proto-json.ts";
import { protocolFromTransport } from "../contract/protocols/protocol-from-transport.ts";
import { freePort } from "../support/free-port.ts";
import { rowsWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { selfSigned } from "../support/self-signed.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const ca = selfSigned.cert;
/** Each request has a different move number, so every request starts a new search. */
let moveNumber = 2;

interface Proxy {
  readonly name: string;
  start(node: number, port: number, folder: string): Promise<Program>;
}

/** Reads a file of `deploy/` and replaces some texts. Fails if the file does not contain one of these texts. */
function configured(path: string, ...replacements: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");
  for (const [from, to] of replacements) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  return text;
}

const nginx: Proxy = {
  name: "nginx",
  start(node, port, folder) {
    const [certificate, key, config] = ["cert.pem", "key.pem", "nginx.conf"].map((file) =>
      join(folder, file),
    );
    writeFileSync(`${certificate}`, selfSigned.cert);
    writeFileSync(`${key}`, selfSigned.key);
    const site = configured(
      "nginx/tls.conf",
      ["127.0.0.1:8080", `127.0.0.1:${node}`],
      ["listen 443 ", `listen 127.0.0.1:${port} `],
      ["/etc/ssl/chess.example.pem", `${certificate}`],
      ["/etc/ssl/chess.example.key", `${key}`],
    );
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (what) => `${what}_temp_path ${folder}/${what};`,
    );
    // Debian includes the site in the `http` block of its nginx.conf.
    writeFileSync(
      `${config}`,
      `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join("\n")}\n${site}}\n`,
    );
    return startProgram("nginx", ["-c", `${config}`, "-e", "stderr", "-g", "daemon off;"], {
      isReady: () => accepts(`127.0.0.1:${port}`),
    });
  },
};

const haproxy: Proxy = {
  name: "HAProxy",
  start(node, port, folder) {
    const [certificate, config] = [join(folder, "both.pem"), join(folder, "haproxy.cfg")];
    writeFileSync(certificate, selfSigned.cert + selfSigned.key);
    const text = configured(
      "haproxy/tls.cfg",
      ["127.0.0.1:8080", `127.0.0.1:${node}`],
      ["bind :443 ", `bind 127.0.0.1:${port} `],
      ["/etc/ssl/chess.example.pem", certificate],
    );
    writeFileSync(config, text);
    return startProgram("haproxy", ["-db", "-f", config], { isReady: () => accepts(`127.0.0.1:${port}`) });
  },
};

describe.each(rowsWith(["nginx", "haproxy"], nginx, haproxy))(
  "$name with TLS, as configured in deploy/",
  (proxy) => {
    const folder = useTemporaryFolder();
    const log: string[] = [];
    let node: Server;
    let program: Program;
    let baseUrl: string;
    // The address of the caller differs from the address of the proxy, which is 127.0.0.1.
    const localAddress = "127.0.0.2";
    const agent = new Agent({ ca, keepAlive: true, localAddress });

    beforeAll(async () => {
      const env = {
        ...quickestSettings,
        PATH: process.env.PATH,
        KIBITZ_DATA_DIR: join(folder, "data"),
        KIBITZ_TRUST_PROXY: "127.0.0.1",
        KIBITZ_LOG_ADDRESSES: "full",
      };
      node = await startServer(env, { onLog: (line) => log.push(line) });
      const port = await freePort();
      program = await proxy.start(node.port, port, folder);
      baseUrl = `https://127.0.0.1:${port}`;
      // Wait until the proxy knows that the node is ready.
      await vi.waitFor(async () => expect((await ask("GET", "/readyz")).status).toBe(200), 60_000);
    });
    afterAll(async () => {
      agent.destroy();
      await program?.[Symbol.asyncDispose]();
      await node?.stop();
    });

    async function ask(method: string, path: string, body?: object | string, headers: object = {}) {
      const asked = request(`${baseUrl}${path}`, {
        method,
        agent,
        headers: { "content-type": "application/json", ...headers },
      }).end(typeof body === "object" ? JSON.stringify(body) : body);
      const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
        asked.on("response", resolve).on("error", reject);
      });
      return { status: response.statusCode, text: await text(response), response };
    }

    test(`${proxy.name} with TLS forwards plain JSON and the address of the caller`, async () => {
      const { status, text } = await ask(
        "POST",
        "/v1/eval",
        { fen: "startpos", depth: 4 },
        { "x-forwarded-for": "192.0.2.9" },
      );
      expect([status, JSON.parse(text).lines[0].depth]).toEqual([200, 4]);
      await expect
        .poll(() => log.findLast((line) => line.includes('"msg":"call"')) ?? "")
        .toContain('"protocol":"json"');
      const call = log.findLast((line) => line.includes('"msg":"call"')) ?? "";
      // The proxy overwrites the address that the caller claims.
      expect(JSON.parse(call).address).toBe(localAddress);
    });

    test(`${proxy.name} with TLS forwards requests with the scheme https over HTTP/1.1 and HTTP/2`, async () => {
      const target = `${baseUrl}/healthz`;
      const absolute = request(target, { agent, path: target }).end();
      const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
        absolute.on("response", resolve).on("error", reject);
      });
      expect([response.statusCode, await text(response)]).toEqual([200, '{"status":"ok"}\n']);

      const session = connect(baseUrl, { ca });
      try {
        const stream = session.request({ ":path": "/healthz", ":scheme": "https" });
        const [headers] = await once(stream, "response");
        expect([headers[":status"], await text(stream)]).toEqual([200, '{"status":"ok"}\n']);
      } finally {
        session.close();
      }
    });

    test(`${proxy.name} with TLS accepts a request body as large as the largest batch`, async () => {
      // A finished game needs no engine.
      const item = { fen: "7k/5KQ1/8/8/8/8/8/8 b - - 0 1" };
      const body = JSON.stringify({ requests: Array.from({ length: 200 }, () => item) });
      const { status, text } = await ask(
        "POST",
        "/v1/eval/batch",
        body.replaceAll("},{", `},${" ".repeat(5000)}{`),
      );
      expect([status, text.match(/"index": ?\d+, ?"result"/g)?.length]).toEqual([200, 200]);
    });

    const transports: Readonly<Record<string, (sessions: Http2SessionManager) => Transport>> = {
      gRPC: (sessionManager) => createGrpcTransport({ baseUrl, sessionManager }),
      "gRPC-Web": () => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } }),
      Connect: () => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } }),
      "Connect over HTTP/2": (sessionManager) =>
        createConnectTransport({ baseUrl, httpVersion: "2", sessionManager }),
    };
    test.each(Object.keys(transports))(
      `${proxy.name} with TLS forwards a response, an error, and each event of a stream immediately over %s`,
      async (name) => {
        const sessions = new Http2SessionManager(baseUrl, undefined, { ca });
        const transport = transports[name]?.(sessions) as Transport;
        try {
          const protocol = protocolFromTransport(transport);
          expect(await protocol.call("evaluate", { fen: "startpos", depth: 4 })).toMatchObject({
            kind: "answer",
          });
          expect(await protocol.call("evaluate", { fen: "nonsense" })).toMatchObject({
            refusal: { code: "invalid_fen" },
          });

          const { streamEvaluate } = createClient(AnalysisService, transport);
          const question = protoJsonFromPlain({
            fen: `r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 ${++moveNumber}`,
            depth: 30,
            movetime_ms: 800,
          });
          const arrivedAt: number[] = [];
          for await (const _ of streamEvaluate(
            fromJson(AnalysisService.method.streamEvaluate.input, question),
          )) {
            arrivedAt.push(performance.now());
          }
          expect(arrivedAt.length).toBeGreaterThan(2);
          expect((arrivedAt.at(-1) ?? 0) - (arrivedAt[0] ?? 0)).toBeGreaterThan(300);
        } finally {
          sessions.abort();
        }
      },
    );
  },
);
