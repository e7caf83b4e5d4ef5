import { randomUUID } from "node:crypto";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { createApiKey } from "../../../src/access/keys.ts";
import { matedFen } from "../../abuse/calls.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { type RunningApp, useApp } from "../../support/running-app.ts";

/** The access modes. In each mode, the server must authenticate the caller before it reads the body of the request. */
const modes = ["public", "keys", "open"] as const;
type Mode = (typeof modes)[number];

const credentials = ["none", "valid", "revoked", "malformed"] as const;
type Credential = (typeof credentials)[number];

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly limited: boolean;
  readonly needsKey?: boolean;
  /** True if the call revokes the key. A key can be revoked only once. */
  readonly once?: boolean;
  readonly bodies: Readonly<Record<string, Buffer>>;
  readonly exempt?: boolean;
  /** True if the route is a page or a probe. The log has only the rejected requests of such a route. */
  readonly page?: boolean;
}

const json = "application/json";
const request = JSON.stringify({ fen: matedFen });
const batch = JSON.stringify({ requests: [{ fen: matedFen }] });

function bodiesOf(readable: string, more: Readonly<Record<string, string>> = {}) {
  const all = {
    readable,
    unreadable: "{bad",
    "half-readable": '{"fen": "x", "nothing": 1}',
    empty: "",
    ...more,
  };
  return Object.fromEntries(Object.entries(all).map(([name, text]) => [name, Buffer.from(text)]));
}

const game = JSON.stringify({ moves: ["e4"], depth: 1 });
const unreadableItems = { "a batch of only unreadable items": '{"requests":[{"x":1}]}' };
const none = { none: Buffer.alloc(0) };

const posting = (path: string, bodies: Route["bodies"], limited = true): Route => ({
  name: `POST ${path}`,
  method: "POST",
  path,
  type: json,
  limited,
  bodies,
});
const withoutBody = (method: string, path: string, more: Partial<Route> = {}): Route => ({
  name: `${method} ${path}`,
  method,
  path,
  limited: false,
  bodies: none,
  ...more,
});

const jsonRoutes: readonly Route[] = [
  ...["/v1/eval", "/v1/bestmove", "/v1/eval/stream"].map((path) => posting(path, bodiesOf(request))),
  posting("/v1/eval/batch", bodiesOf(batch, unreadableItems)),
  posting("/v1/review", bodiesOf(game)),
  posting("/v1/keys", bodiesOf("{}"), false),
  withoutBody("GET", "/v1/tablebase?fen=startpos", { limited: true }),
  withoutBody("GET", "/v1/keys/self", { needsKey: true }),
  withoutBody("DELETE", "/v1/keys/self", { needsKey: true, once: true }),
  ...["/engines", "/v1/engines", "/price", "/v1/price", "/nothing"].map((path) => withoutBody("GET", path)),
  ...["/", "/docs", "/openapi.json", "/problems", "/problems/rate-limited"].map((path) =>
    withoutBody("GET", path, { page: true }),
  ),
  ...["/healthz", "/readyz"].map((path) => withoutBody("GET", path, { exempt: true, page: true })),
];

const readableOf: Readonly<Record<string, string>> = {
  Evaluate: request,
  FindBestMove: request,
  StreamEvaluate: request,
  EvaluateBatch: batch,
  ReviewGame: game,
  ProbeTablebase: JSON.stringify({ fen: "startpos" }),
};

const framed = (bodies: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, name === "empty" ? body : envelope(body)]),
  );

const rpcRoutes: readonly Route[] = [AnalysisService, GameService, KeyService].flatMap((service) =>
  service.methods.flatMap((method) => {
    const path = `/${service.typeName}/${method.name}`;
    const readable = readableOf[method.name];
    const bodies = bodiesOf(readable ?? "{}", method.name === "EvaluateBatch" ? unreadableItems : {});
    const rest = {
      method: "POST",
      path,
      limited: readable !== undefined,
      needsKey: ["GetKey", "RevokeKey"].includes(method.name),
      once: method.name === "RevokeKey",
    };
    const types =
      method.methodKind === "unary"
        ? [json, "application/grpc+json", "application/grpc-web+json"]
        : ["application/connect+json", "application/grpc+json", "application/grpc-web+json"];
    return types.map((type) => ({
      ...rest,
      name: `${method.name} as ${type}`,
      type,
      bodies: type === json ? bodies : framed(bodies),
    }));
  }),
);

const health: Route = {
  name: "health's Check as application/grpc+json",
  method: "POST",
  path: "/grpc.health.v1.Health/Check",
  type: "application/grpc+json",
  limited: false,
  exempt: true,
  bodies: framed({ readable: Buffer.from("{}") }),
};

const unknownCall: Route = {
  name: "a call that there is not, as application/grpc+json",
  method: "POST",
  path: "/chess.analysis.v1.AnalysisService/Nothing",
  type: "application/grpc+json",
  limited: true,
  bodies: framed({ readable: Buffer.from("{}") }),
};

describe.each(modes)("with KIBITZ_ACCESS=%s", (mode) => {
  const app = useApp(
    {
      KIBITZ_ACCESS: mode,
      KIBITZ_SELF_SERVICE_KEYS: "true",
      KIBITZ_TRUST_PROXY: "127.0.0.1",
      KIBITZ_KEYS_PER_DAY: "1000",
    },
    { engines: createEnginesInProcess() },
  );
  const ask = useHttp2(app);
  const unlogged: string[] = [];

  async function newKey(): Promise<string> {
    const { body } = await ask({ method: "POST", path: "/v1/keys", type: json }, Buffer.from("{}"));
    return JSON.parse(body).key;
  }

  const revokedKey = cached(async () => {
    const authorization = `Bearer ${await newKey()}`;
    await ask({ method: "DELETE", path: "/v1/keys/self", authorization });
    return authorization;
  });

  async function headerOf(credential: Credential): Promise<string | undefined> {
    switch (credential) {
      case "none":
        return undefined;
      case "valid":
        return `Bearer ${await newKey()}`;
      case "revoked":
        return revokedKey();
      case "malformed":
        return `Bearer ${createApiKey()}x`;
    }
  }

  test.each([...jsonRoutes, ...rpcRoutes, health, unknownCall].map((route) => [route.name, route] as const))(
    `with KIBITZ_ACCESS=${mode}, the server authenticates the client that calls %s`,
    async (_, route) => {
      for (const credential of credentials) {
        let authorization = await headerOf(credential);
        const bodies = Object.entries(route.bodies);
        for (const [name, body] of mode === "public" ? bodies : bodies.slice(0, 1)) {
          if (route.once && credential === "valid") {
            authorization = await headerOf(credential);
          }
          const what = `${credential} credential, ${name} body`;
          const answer = await ask({ ...route, ...(authorization && { authorization }) }, body);
          const refusal = wanted(route, credential, mode);
          const isLogged = !route.page || refusal !== undefined;
          if (!isLogged) {
            unlogged.push(answer.requestId);
          }
          const lines = isLogged ? await linesOf(app, answer.requestId) : [];
          expect(lines, what).toHaveLength(isLogged ? 1 : 0);
          expectRefusal(answer, lines[0]?.code, refusal, what);
          const isKnown = !["invalid_api_key", "api_key_required"].includes(String(lines[0]?.code));
          const hasWindows = route.limited && isKnown && mode !== "open";
          expect([answer.headers["ratelimit-policy"], answer.headers.ratelimit], what).toEqual(
            hasWindows
              ? [expect.stringContaining('"minute";q='), expect.stringContaining('"minute";r=')]
              : [undefined, undefined],
          );
        }
      }
    },
  );

  test(`with KIBITZ_ACCESS=${mode}, requests for pages and probes are not logged`, () => {
    expect(unlogged.length).toBeGreaterThan(0);
    expect(unlogged.flatMap((requestId) => callLinesOf(app, requestId))).toEqual([]);
  });
});

function cached<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Returns the error code that the server must return, or undefined if the server accepts the credential. */
function wanted(route: Route, credential: Credential, mode: Mode): string | undefined {
  if (route.exempt) {
    return undefined;
  }
  if (credential === "revoked" || credential === "malformed") {
    return "invalid_api_key";
  }
  return credential === "none" && mode === "keys" && route.limited ? "api_key_required" : undefined;
}

function expectRefusal(
  answer: Answer,
  logged: string | undefined,
  code: string | undefined,
  what: string,
): void {
  if (code === undefined) {
    expect(logged, what).not.toBe("invalid_api_key");
    return;
  }
  expect(logged, what).toBe(code);
  const scheme = code === "invalid_api_key" ? 'Bearer error="invalid_token"' : "Bearer";
  const { headers, trailers, body } = answer;
  const type = String(headers["content-type"]);
  if (type.startsWith("application/grpc")) {
    const status = headers["grpc-status"] ?? trailers["grpc-status"] ?? /grpc-status: (\d+)/.exec(body)?.[1];
    expect(status, what).toBe("16");
  } else if (type.startsWith("application/connect")) {
    expect(JSON.parse(body.slice(5)).error.code, what).toBe("unauthenticated");
  } else {
    expect(headers[":status"], what).toBe(401);
    expect(headers["www-authenticate"], what).toBe(scheme);
  }
}

interface Line {
  readonly code: string;
}

interface Logged {
  readonly message: string;
  readonly requestId: string;
}

/** Waits until the request is logged, and returns all log lines with this request id. */
async function linesOf(app: RunningApp, requestId: string): Promise<readonly Line[]> {
  await expect.poll(() => callLinesOf(app, requestId), { interval: 2 }).not.toEqual([]);
  await sleep(1);
  return callLinesOf(app, requestId);
}

/** The log lines, sorted by request. `read` is the number of log lines that have been sorted so far. */
const callLines = new WeakMap<RunningApp, { readonly byRequest: Map<string, Line[]>; read: number }>();

function callLinesOf(app: RunningApp, requestId: string): readonly Line[] {
  const known = callLines.get(app) ?? { byRequest: new Map<string, Line[]>(), read: 0 };
  callLines.set(app, known);
  for (const line of app.logged.slice(known.read) as readonly (Line & Partial<Logged>)[]) {
    if (line.message === "call" && line.requestId !== undefined) {
      known.byRequest.set(line.requestId, [...(known.byRequest.get(line.requestId) ?? []), line]);
    }
  }
  known.read = app.logged.length;
  return known.byRequest.get(requestId) ?? [];
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly authorization?: string;
}

interface Answer {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Returns a function that sends a request over HTTP/2. The server trusts the test as a proxy, so each request can have a new
 * caller address.
 */
function useHttp2(app: RunningApp) {
  let session: ReturnType<typeof connect>;
  let callers = 0;
  beforeAll(() => {
    session = connect(app.url);
  });
  afterAll(() => session.close());

  return ({ method, path, type, authorization }: Asked, body: Buffer = Buffer.alloc(0)): Promise<Answer> => {
    callers++;
    const requestId = randomUUID();
    const head = {
      ":method": method,
      ":path": path,
      "x-request-id": requestId,
      "x-forwarded-for": `10.0.${callers >> 8}.${callers & 255}`,
      ...(type && { "content-type": type, te: "trailers" }),
      ...(authorization && { authorization }),
    };
    const stream = session.request(head, { endStream: body.length === 0 });
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let headers: IncomingHttpHeaders = {};
      let trailers: IncomingHttpHeaders = {};
      stream
        .on("response", (got) => {
          headers = got;
        })
        .on("trailers", (got) => {
          trailers = got;
        })
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("error", reject)
        .on("close", () => resolve({ requestId, headers, trailers, body: Buffer.concat(chunks).toString() }));
      if (body.length > 0) {
        stream.end(body);
      }
    });
  };
}
