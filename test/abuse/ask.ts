import { type OutgoingHttpHeaders, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly localAddress?: string;
}

/** Sends a request over a new connection, and closes the connection after the response. */
export function ask(
  url: string,
  { method = "GET", headers = {}, body, signal, localAddress }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { ...(signal && { signal }), ...(localAddress && { localAddress }) };
    const asking = request(url, { method, headers, agent: false, ...options }, (res) => {
      const chunks: Uint8Array[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: Object.fromEntries(
            Object.entries(res.headersDistinct).map(([name, values]) => [name, (values ?? []).join(", ")]),
          ),
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    asking.on("error", reject);
    asking.end(body);
  });
}

export function post(
  url: string,
  body: object | string | Uint8Array,
  headers: OutgoingHttpHeaders = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  return ask(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: raw ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const attemptsMax = 10;

/**
 * Sends a request again after the time in `Retry-After`, as a client should do, if the service answers that it is too busy. A busy
 * machine may make the service refuse a request that an idle machine accepts.
 */
export async function patiently(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send();
    const retryAfterS = Number(answer.headers["retry-after"]);
    if (answer.status !== 503 || attempt === attemptsMax || !(retryAfterS > 0)) {
      return answer;
    }
    await sleep(1000 * retryAfterS);
  }
}
