import type { Random } from "../../support/random.ts";
import type { FailingServer } from "./failing-server.ts";
import { replyTo } from "./reply.ts";
import { headersOf, type Parts } from "./request-grammar.ts";
import { type Outcome, openHttp2, sendOverHttp1, sendOverHttp2 } from "./send-grammar.ts";

interface TriedGrammar {
  /** How many requests had each status, or were cut off or not sent. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/** Each address has limits of its own, and sends only this number of requests. */
const requestsOfAddress = 20;

const addressOf = (net: number, count: number) =>
  `127.${net}.${Math.floor(count / 250) % 250}.${1 + (count % 250)}`;

/**
 * Sends each request over HTTP/1.1 and HTTP/2: once as it is, and once with the failure of one of its steps. Each time, the
 * caller must get an answer or see that its connection or stream has ended.
 */
export async function tryGrammar(
  server: FailingServer,
  requests: Iterable<Parts>,
  random: Random,
): Promise<TriedGrammar> {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  let sent = 0;
  let session = openHttp2(server.url, addressOf(1, 0));
  for (const parts of requests) {
    for (const protocol of ["HTTP/1.1", "HTTP/2"]) {
      let steps = 0;
      for (const isFailing of [false, true]) {
        if (sent++ % requestsOfAddress === 0 || session.closed || session.destroyed) {
          session.destroy();
          session = openHttp2(server.url, addressOf(1, sent));
        }
        if (isFailing && steps === 0) {
          continue;
        }
        await server.arm(isFailing ? 1 + random.below(steps) : 0);
        const got = await (protocol === "HTTP/2"
          ? sendOverHttp2(session, parts)
          : sendOverHttp1(server.port, addressOf(2, sent), parts)
        ).catch((error: Error) => error);
        const { reached, failed } = await server.arm(0);
        steps = reached;
        const complaint = got instanceof Error ? got.message : complaintOf(got, parts, protocol, isFailing);
        if (complaint !== undefined) {
          faults.push(`${protocol} ${failed ?? ""} ${shown(parts)}: ${complaint}`);
        }
        const name = got instanceof Error ? "error" : got.kind === "answered" ? String(got.status) : got.kind;
        outcomes.set(`${protocol} ${name}`, (outcomes.get(`${protocol} ${name}`) ?? 0) + 1);
        for (const line of server.unhandled.splice(0)) {
          faults.push(`${protocol} ${failed ?? ""} ${shown(parts)}: nothing caught ${line.slice(0, 1000)}`);
        }
        if (!server.isRunning()) {
          faults.push(`${protocol} ${shown(parts)}: the process has ended`);
          return { outcomes, faults };
        }
      }
    }
    const health = await replyTo(server.url, { path: "/healthz", from: addressOf(3, sent) });
    if (health.status !== 200) {
      faults.push(`after ${shown(parts)}: the next request got ${health.status}`);
    }
  }
  session.destroy();
  return { outcomes, faults };
}

/** Node resets the stream of a request that breaks the rules of HTTP/2, before the service sees the request. */
function isValidHttp2(parts: Parts): boolean {
  const { method, target, scheme, host = "" } = parts;
  return (
    method !== "CONNECT" &&
    /^\/[!-~]*$/.test(target) &&
    /^https?$/.test(scheme) &&
    /^[a-z\d[\]:]+$/.test(host) &&
    Object.values(headersOf(parts)).every((value) => /^[ -~]*$/.test(value))
  );
}

function shown(parts: Parts): string {
  return JSON.stringify(parts, (_, value) => (typeof value === "string" ? value.slice(0, 60) : value));
}

/** Returns what is wrong with the outcome, or undefined. */
function complaintOf(got: Outcome, parts: Parts, protocol: string, isFailing: boolean): string | undefined {
  if (got.kind === "cut" && !isFailing && (protocol === "HTTP/1.1" || isValidHttp2(parts))) {
    return "no answer";
  }
  if (got.kind !== "answered") {
    return undefined;
  }
  const { status, type, body } = got;
  // A request alone never makes the service fail. 501 and 505 are about HTTP itself.
  if (status === 500 && !isFailing) {
    return `500 ${body.slice(0, 500)}`;
  }
  if (type === "application/problem+json" && body !== "") {
    return JSON.parse(/^\{.*\}$/m.exec(body)?.[0] ?? "{}").status === status
      ? undefined
      : `a problem with another status than ${status}: ${body.slice(0, 500)}`;
  }
  return undefined;
}
