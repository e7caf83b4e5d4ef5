import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect as connectHttp2, constants } from "node:http2";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createListener, type Listener } from "../../src/http/listener/listener.ts";
import type { NodeRequest } from "../../src/http/message.ts";
import { createProbes } from "../../src/http/pages/probes.ts";
import { unlimitedListener } from "../http/start-listener.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import type { Balanced, Balancer } from "./balancers.ts";

type Behaviour = (req: NodeRequest, res: ServerResponse) => void;

const answer: Behaviour = (_, res) => void res.end("answered");
const lose: Behaviour = (req) => {
  if ("stream" in req) {
    req.stream.session?.destroy();
  } else {
    req.socket.destroy();
  }
};
/** Refuses an HTTP/2 request with REFUSED_STREAM. A stopping node does the same with a request that the node has not read. */
const refuseUnread: Behaviour = (req) => {
  if ("stream" in req) {
    req.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  }
};
const refuse: Behaviour = (_, res) => {
  res.writeHead(503, { "content-type": "application/problem+json", "retry-after": "7" });
  res.end('{"code":"overloaded"}');
};

/** Uses `behaviour` for the first request to any node, and `then` for all later requests. */
const firstly = (behaviour: Behaviour, then = answer): Behaviour => {
  let first = true;
  return (req, res) => {
    const does = first ? behaviour : then;
    first = false;
    does(req, res);
  };
};

const json = { "content-type": "application/json" };

/** Defines tests of a balancer in front of three test nodes. The balancer uses its configuration from `deploy/`. */
export function testBalancer(balancer: Balancer): void {
  describe(balancer.name, () => {
    const folder = useTemporaryFolder();
    const listeners: Listener[] = [];
    let balanced: Balanced;
    let behave: Behaviour;
    let asked: { readonly node: number; readonly path: string }[];

    const startNode = async (node: number) => {
      const listener = createListener({
        ...unlimitedListener,
        handlers: [
          createProbes({ ready: () => true, draining: () => false }),
          (req, res) => {
            asked.push({ node, path: req.url ?? "" });
            // The response classes of HTTP/1.1 and HTTP/2 share the methods that the tests use.
            behave(req, res as ServerResponse);
            return true;
          },
        ],
        log: { error: console.error, warn: console.warn },
      });
      listeners.push(listener);
      const { port } = await listener.listen("127.0.0.1", 0);
      return `127.0.0.1:${port}`;
    };

    beforeAll(async () => {
      const nodes = await Promise.all([startNode(0), startNode(1), startNode(2)]);
      balanced = await balancer.start([nodes[0], nodes[1], nodes[2]], folder);
      behave = answer;
      asked = [];
      // Wait until the balancer knows that the nodes are ready.
      await vi.waitFor(async () => expect((await fetch(balanced.url)).status).toBe(200), 60_000);
    });
    afterAll(async () => {
      await balanced[Symbol.asyncDispose]();
      await Promise.all(listeners.map((listener) => listener.stop(0)));
    });
    beforeEach(() => {
      asked = [];
      behave = answer;
    });

    const post = (path: string, body = "{}") =>
      fetch(`${balanced.url}${path}`, { method: "POST", headers: json, body });

    /**
     * Sends a request over a new connection, because HAProxy may close a reused connection instead of sending 502. Returns the
     * status.
     */
    async function statusOf(path: string, method = "POST"): Promise<number | undefined> {
      const call = request(`${balanced.url}${path}`, { method, agent: false, headers: json });
      call.end(method === "POST" ? "{}" : undefined);
      const [response] = (await once(call, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    }

    test.each(["/v1/eval", "/v1/bestmove", "/v1/eval/stream", "/chess.analysis.v1.AnalysisService/Evaluate"])(
      `${balancer.name} retries at another node if a node is lost before the first byte of its response: %s`,
      async (path) => {
        behave = firstly(lose);
        const response = await post(path);
        expect([response.status, await response.text()]).toEqual([200, "answered"]);
        expect(asked).toHaveLength(2);
        expect(new Set(asked.map(({ node }) => node)).size).toBe(2);
      },
    );

    test(`${balancer.name} sends the complete request body again, up to the largest body of a single request`, async () => {
      let received = 0;
      behave = firstly(lose, async (req, res) => {
        received = (await buffer(req)).length;
        answer(req, res);
      });
      const response = await post("/v1/eval", "x".repeat(65_536));
      expect([response.status, received]).toEqual([200, 65_536]);
    });

    test(`${balancer.name} retries a request without side effects at most twice`, async () => {
      behave = lose;
      expect(await statusOf("/v1/eval")).toBeGreaterThanOrEqual(502);
      expect(asked).toHaveLength(3);
    });

    test(`${balancer.name} retries a request that a node refuses with 503, and forwards the last refusal unchanged`, async () => {
      behave = firstly(refuse);
      expect((await post("/v1/eval")).status).toBe(200);
      expect(asked).toHaveLength(2);
      asked = [];
      behave = refuse;
      const response = await post("/v1/eval");
      expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual([
        503,
        "7",
        { code: "overloaded" },
      ]);
      expect(asked).toHaveLength(3);
    });

    test.each([
      ["POST", "/v1/keys"],
      ["DELETE", "/v1/keys/self"],
      ["POST", "/chess.analysis.v1.KeyService/CreateKey"],
    ])(`${balancer.name} never retries a request with side effects: %s %s`, async (method, path) => {
      for (behave of [lose, refuse]) {
        asked = [];
        expect(await statusOf(path, method)).toBeGreaterThanOrEqual(502);
        expect(asked).toHaveLength(1);
      }
    });

    test(`${balancer.name} does not retry a request after the start of its response`, async () => {
      behave = (req, res) => {
        res.write("begun");
        setTimeout(() => lose(req, res), 50);
      };
      const response = await post("/v1/eval");
      expect(response.status).toBe(200);
      await expect(response.text()).rejects.toThrow("terminated");
      expect(asked).toHaveLength(1);
    });

    test(`${balancer.name} forwards each event of a stream immediately`, async () => {
      const rest = Promise.withResolvers<void>();
      behave = async (_, res) => {
        res.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
        res.write("event: queued\n\n");
        await rest.promise;
        res.end("event: done\n\n");
      };
      const response = await post("/v1/eval/stream");
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      expect(String(Buffer.from((await reader.read()).value ?? []))).toBe("event: queued\n\n");
      rest.resolve();
      expect(String(Buffer.from((await reader.read()).value ?? []))).toBe("event: done\n\n");
    });

    test(`${balancer.name} forwards the real address of the caller, and not the claimed address`, async () => {
      let forwarded: unknown;
      behave = (req, res) => {
        forwarded = req.headers["x-forwarded-for"];
        answer(req, res);
      };
      await fetch(`${balanced.url}/engines`, { headers: { "x-forwarded-for": "203.0.113.7" } });
      // Envoy forwards another address of this machine than 127.0.0.1.
      expect(String(forwarded)).toMatch(/(^|, ?)[\d.]+$/);
      expect(String(forwarded)).not.toMatch(/203\.0\.113\.7$/);
      if (balancer.name === "HAProxy") {
        // The nodes trust the network of HAProxy. A caller may be in the same network.
        expect(forwarded).toBe("127.0.0.1");
      }
    });

    test(`${balancer.name} accepts a request body as large as the largest batch`, async () => {
      let received = 0;
      behave = async (req, res) => {
        received = (await buffer(req)).length;
        answer(req, res);
      };
      expect((await post("/v1/eval/batch", "x".repeat(1_048_576))).status).toBe(200);
      expect(received).toBe(1_048_576);
    });

    /**
     * After an error, a balancer may send no requests to a node for a second. This function waits until every node gets
     * requests.
     */
    async function untilAllAreAsked(): Promise<void> {
      behave = answer;
      const askMany = async () => {
        asked = [];
        await Promise.all(Array.from({ length: 30 }, () => post("/v1/eval")));
        return new Set(asked.map(({ node }) => node)).size;
      };
      await expect.poll(askMany, { timeout: 20_000 }).toBe(3);
    }

    describe("on one connection of gRPC", () => {
      const grpc = {
        ":method": "POST",
        ":path": "/chess.analysis.v1.AnalysisService/Evaluate",
        "content-type": "application/grpc+proto",
        te: "trailers",
      };
      const openClient = () => {
        const client = connectHttp2(balanced.http2Url);
        client.on("error", () => {});
        return {
          /** Ignores errors of the request. */
          request: (path = grpc[":path"]) => client.request({ ...grpc, ":path": path }).on("error", () => {}),
          [Symbol.dispose]: () => client.destroy(),
        };
      };

      test(`${balancer.name} distributes the calls of one gRPC connection evenly over the nodes`, async () => {
        const waiting: ServerResponse[] = [];
        await untilAllAreAsked();
        asked = [];
        behave = (_, res) => void waiting.push(res);
        using client = openClient();
        const calls = Array.from({ length: 9 }, () => client.request().end("x"));
        const ended = Promise.all(calls.map((call) => once(call.resume(), "end")));
        await expect.poll(() => waiting.length).toBe(9);
        const perNode = [0, 1, 2].map((node) => asked.filter((call) => call.node === node).length);
        expect(perNode).toEqual([3, 3, 3]);
        for (const res of waiting) {
          res.end();
        }
        await ended;
      });

      test(`${balancer.name} forwards the trailers of gRPC`, async () => {
        behave = (_, res) => {
          res.writeHead(200, { "content-type": "application/grpc+proto" });
          res.addTrailers({ "grpc-status": "0", "grpc-message": "fine" });
          res.end("answer");
        };
        using client = openClient();
        const call = client.request().end("x");
        const [trailers] = await once(call.resume(), "trailers");
        expect(trailers).toMatchObject({ "grpc-status": "0", "grpc-message": "fine" });
      });

      test(`${balancer.name} forwards the messages of a bidirectional gRPC stream immediately`, async () => {
        behave = (req, res) => {
          res.writeHead(200, { "content-type": "application/grpc+proto" });
          req.on("data", (part: Buffer) => res.write(`heard ${part}`)).on("end", () => res.end());
        };
        using client = openClient();
        const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        const call = client.request(path);
        for (const word of ["one", "two"]) {
          call.write(word);
          expect(String((await once(call, "data"))[0])).toBe(`heard ${word}`);
        }
        call.end();
        await once(call, "end");
      });

      test(`${balancer.name} retries a gRPC call with its complete body if a node is lost or refuses the unread call`, async () => {
        using client = openClient();
        for (const behaviour of [lose, refuseUnread]) {
          asked = [];
          let received = 0;
          behave = firstly(behaviour, async (req, res) => {
            received = (await buffer(req)).length;
            answer(req, res);
          });
          const call = client.request().end("x".repeat(balancer.grpcBodyMax)).resume();
          const [headers] = await once(call, "response");
          expect([headers[":status"], headers["grpc-status"], received]).toEqual([
            200,
            undefined,
            balancer.grpcBodyMax,
          ]);
          expect(asked).toHaveLength(2);
        }
      });

      async function howOftenAsked(path: string, behaviour: Behaviour): Promise<number> {
        asked = [];
        behave = behaviour;
        using client = openClient();
        const call = client.request(path).end("x").resume();
        await new Promise((resolve) => call.on("close", resolve));
        return asked.length;
      }

      test(`${balancer.name} retries a gRPC call at most twice, and never retries the creation of a key`, async () => {
        for (const behaviour of [lose, refuseUnread]) {
          expect(await howOftenAsked(grpc[":path"], behaviour)).toBe(3);
          expect(await howOftenAsked("/chess.analysis.v1.KeyService/CreateKey", behaviour)).toBe(1);
        }
      });
    });

    test(`${balancer.name} causes no failed call when a node stops`, async () => {
      await untilAllAreAsked();
      const stopping = listeners[0];
      await stopping?.stop(0);
      await sleep(balancer.mayFailMs);
      const statuses = await Promise.all(
        Array.from({ length: 30 }, async () => (await post("/v1/eval")).status),
      );
      expect(new Set(statuses)).toEqual(new Set([200]));
    });
  });
}
