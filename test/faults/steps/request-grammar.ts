import type { Random } from "../../support/random.ts";

/** One value for each part of a request that the code reads. An absent header is undefined. */
export type Parts = { readonly [Part in keyof typeof grammar]: (typeof grammar)[Part][number] };

const rpc = "/chess.analysis.v1.AnalysisService";

/** What is read from a request line and from headers, with the values at which the code decides, and values beside them. */
export const grammar = {
  method: ["GET", "POST", "HEAD", "OPTIONS", "DELETE", "PUT", "TRACE", "CONNECT", "PROPFIND"],
  target: [
    "/",
    "/engines",
    "/v1/engines",
    "/price?depth=10&depth=11",
    "/v1/eval",
    "/v1/eval/",
    "/v1/bestmove",
    "/v1/eval/stream",
    "/v1/eval/batch",
    "/v1/review",
    "/v1/keys",
    "/v1/keys/self",
    "/mcp",
    "/healthz",
    "/readyz",
    "/docs",
    "/openapi.json",
    "/llms.txt",
    "/problems/internal",
    "/problems/nothing",
    "/nothing/at/all",
    `${rpc}/Evaluate`,
    `${rpc}/GetPrice?encoding=json&message=%7B%7D`,
    `${rpc}/GetPrice?encoding=json&message=%zz&base64=1`,
    `${rpc}/Nothing`,
    "/chess.analysis.v1.Nothing/Evaluate",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "http://a/engines",
    "http://a",
    "HTTP://a:80/v1/eval?x",
    "https://a/healthz",
    "*",
    "//a//b",
    "/%00/%zz/%2e%2e",
    "/a\u00e9",
    "/?",
    `/?${"a&".repeat(70)}`,
    `/${"a".repeat(5000)}`,
    "?x",
    "a:80",
    "ftp://a/engines",
    "http:///engines",
    "http://a@b/engines",
  ],
  /** Of HTTP/2 only. */
  scheme: ["http", "https", "ftp", "x", ""],
  version: ["1.1", "1.0"],
  host: [
    "a",
    undefined,
    "",
    "a:80",
    "[::1]:80",
    "a b",
    "a@b",
    "a/b",
    "%",
    "\u00e9",
    "a:99999",
    "x".repeat(400),
  ],
  accept: [
    undefined,
    "",
    "*/*",
    "text/html",
    "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
    "application/json",
    "text/event-stream",
    "application/x-ndjson",
    "application/json, text/event-stream",
    "application/json;q=0",
    ";;,/,q=",
    "a/b,".repeat(400),
  ],
  contentType: [
    "application/json",
    undefined,
    "",
    "application/json; charset=utf-16",
    "text/plain",
    "application/proto",
    "application/connect+json",
    "application/grpc",
    "application/grpc+json",
    "application/grpc-web-text",
    "application/grpc+\u00e9",
  ],
  ifNoneMatch: [undefined, "*", '"a"', 'W/"a", "b"', '"', "a".repeat(2000)],
  requestId: [undefined, "abc-1.2:3", "", "a".repeat(65), "a b", "\u00e9", `kbz_${"A".repeat(40)}`],
  body: [
    '{"fen":"startpos","depth":1}',
    "",
    "{",
    "[]",
    '{"requests":[{"fen":"startpos","depth":1}]}',
    '{"moves":["e4"],"nodes":100}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    "\u0000\u0000\u0000\u0000\u0002{}",
  ],
  framing: ["length", "chunked", "none"],
  expect: [undefined, "100-continue", "x"],
  authorization: [undefined, "Bearer x", "Basic eDp5", `Bearer kbz_${"A".repeat(40)}`, ""],
  origin: [undefined, "http://a", "null", "\u00e9", "http://a/b"],
  preflight: [undefined, "POST", ""],
  forwarded: [undefined, "1.2.3.4", "1.2.3.4, x", ",", "::1"],
  encoding: [undefined, "identity", "gzip", "br", ""],
  timeout: [undefined, "1S", "99999999H", "x", "-1"],
  traceparent: [
    undefined,
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0-0-0",
    "ff-\u00e9",
  ],
  upgrade: [undefined, "websocket", "h2c"],
} as const;

/** How many of the first values do not already end the request. The other parts of the request are then read too. */
const letThrough: Partial<Record<keyof typeof grammar, number>> = {
  method: 4,
  target: 33,
  scheme: 2,
  host: 3,
  contentType: 1,
  body: 1,
  framing: 2,
  expect: 2,
  authorization: 1,
  preflight: 1,
  encoding: 2,
  timeout: 3,
};

const names = Object.keys(grammar) as (keyof typeof grammar)[];

export function randomParts(random: Random): Parts {
  return Object.fromEntries(
    names.map((name) => {
      const values: readonly unknown[] = grammar[name];
      // The first value is the ordinary one. Without it, nearly every request would be refused at once.
      return [name, values[random.below(3) > 0 ? 0 : random.below(values.length)]];
    }),
  ) as unknown as Parts;
}

/**
 * Returns requests in which each value of each part occurs together with each value of each other part. Then the same again
 * with only those values that do not end the request early, because such a value hides the other parts.
 */
export function allPairs(random: Random): readonly Parts[] {
  const all = names.map((name) => grammar[name].length);
  return [
    ...pairsOf(all, random),
    ...pairsOf(
      names.map((name, at) => letThrough[name] ?? (all[at] as number)),
      random,
    ),
  ];
}

/** `sizes`: how many values of each part are used. */
function pairsOf(sizes: readonly number[], random: Random): readonly Parts[] {
  const left = new Map<string, Set<string>>();
  const pairKey = (a: number, b: number) => `${a} ${b}`;
  const valueKey = (a: number, b: number) => `${a} ${b}`;
  for (const [a, sizeA] of sizes.entries()) {
    for (let b = a + 1; b < sizes.length; b++) {
      const values = new Set<string>();
      for (let i = 0; i < sizeA; i++) {
        for (let j = 0; j < (sizes[b] ?? 0); j++) {
          values.add(valueKey(i, j));
        }
      }
      left.set(pairKey(a, b), values);
    }
  }
  /** Returns how many pairs of the given parts are new if part `at` has the value `value`. */
  const gain = (chosen: ReadonlyMap<number, number>, at: number, value: number) => {
    let count = 0;
    for (const [other, otherValue] of chosen) {
      const isNew =
        other < at
          ? left.get(pairKey(other, at))?.has(valueKey(otherValue, value))
          : left.get(pairKey(at, other))?.has(valueKey(value, otherValue));
      count += isNew ? 1 : 0;
    }
    return count;
  };
  const rows: Parts[] = [];
  for (;;) {
    // Begin with a pair that is still missing. Then give each part the value that brings most pairs.
    const [first, missing] = [...left].find(([, values]) => values.size > 0) ?? [];
    if (first === undefined || missing === undefined) {
      return rows;
    }
    const [a = 0, b = 0] = first.split(" ").map(Number);
    const [i = 0, j = 0] = ([...missing][0] ?? "").split(" ").map(Number);
    const chosen = new Map([
      [a, i],
      [b, j],
    ]);
    for (const at of names.keys()) {
      if (chosen.has(at)) {
        continue;
      }
      let best = random.below(sizes[at] ?? 1);
      let most = gain(chosen, at, best);
      for (let value = 0; value < (sizes[at] ?? 0); value++) {
        const more = gain(chosen, at, value);
        if (more > most) {
          most = more;
          best = value;
        }
      }
      chosen.set(at, best);
    }
    for (const [one, value] of chosen) {
      for (const [other, otherValue] of chosen) {
        if (one < other) {
          left.get(pairKey(one, other))?.delete(valueKey(value, otherValue));
        }
      }
    }
    rows.push(
      Object.fromEntries(
        names.map((name, at) => [name, grammar[name][chosen.get(at) ?? 0]]),
      ) as unknown as Parts,
    );
  }
}

/** Returns the headers in lower case, without those that frame the message. */
export function headersOf(parts: Parts): Readonly<Record<string, string>> {
  const all: Readonly<Record<string, string | undefined>> = {
    accept: parts.accept,
    "content-type": parts.contentType,
    "if-none-match": parts.ifNoneMatch,
    "x-request-id": parts.requestId,
    expect: parts.expect,
    authorization: parts.authorization,
    origin: parts.origin,
    "access-control-request-method": parts.preflight,
    "x-forwarded-for": parts.forwarded,
    "content-encoding": parts.encoding,
    "grpc-timeout": parts.timeout,
    "connect-timeout-ms": parts.timeout,
    traceparent: parts.traceparent,
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Returns the bytes of the request over HTTP/1.1. The connection ends after the answer. */
export function bytesOf(parts: Parts): Buffer {
  const { method, target, version, host, body, framing, upgrade } = parts;
  const bytes = Buffer.from(body, "latin1");
  const head = [
    `${method} ${target} HTTP/${version}`,
    ...(host === undefined ? [] : [`Host: ${host}`]),
    ...Object.entries(headersOf(parts)).map(([name, value]) => `${name}: ${value}`),
    upgrade === undefined ? "Connection: close" : `Connection: close, Upgrade\r\nUpgrade: ${upgrade}`,
    ...(framing === "length" ? [`Content-Length: ${bytes.length}`] : []),
    ...(framing === "chunked" ? ["Transfer-Encoding: chunked"] : []),
  ];
  const chunks = bytes.length > 0 ? `${bytes.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : "0\r\n\r\n";
  const sent = framing === "none" ? "" : framing === "length" ? body : chunks;
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${sent}`, "latin1");
}
