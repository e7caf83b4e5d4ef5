import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { runKibitz } from "../test/cli/run-kibitz.ts";
import { oldMessage, send } from "../test/protocols/mcp/messages.ts";
import { compactJson } from "../test/support/compact-json.ts";
import { withoutChance } from "../test/support/without-chance.ts";

const root = new URL("../", import.meta.url);
export const documents = ["README.md", "docs/api.md", "docs/agents.md"] as const;
export const examples = readdirSync(new URL("docs/examples/", root)).map((file) => `docs/examples/${file}`);

/**
 * The service has the default WebAssembly build and no native engine, as most readers have. It has the tables of three men, so that
 * a look-up finds a result.
 */
export const plainSettings = {
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_WASM_BUILD: "fast",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19",
  KIBITZ_ACCESS: "public",
  KIBITZ_CACHE_MB: "0",
  KIBITZ_SYZYGY: fileURLToPath(new URL("test/tablebase/tables", root)),
} as const;

/** Allows two requests per minute, for examples of responses with status 429. */
export const twoAMinute = [
  { id: "keyless", limits: { rates: [{ name: "minute", quota: 2, window_s: 60, unit: "request" }] } },
];

export const textOf = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Matches a curl command and the JSON response below it, which may be inside `<details>`. */
export const shownJson = /```sh\n(curl [^`]+)```\n+(?:<details>.*\n+)?```json\n((?:.*\n)*?)```/g;
/** Matches a review on the command line, and the first lines of its text below it. */
export const shownReview =
  /```sh\necho '(.+)' \| npx \S+ (review.*) \| head -n (\d+)\n```\n+```text\n([\s\S]+?)\n```/g;
/** Matches a tool call in the documentation for agents, and the response text below it. */
const shownTool = /A call of `(\w+)` with `(\{.+\})`.*:\n\n```text\n([\s\S]+?)\n```/g;

/** Keeps a response in the document if only ids, times and similar values have changed. */
export async function documentWithAnswers(path: string, url: string): Promise<string> {
  const text = textOf(path);
  let renewed = text;
  const replace = (found: string, old: string, answer: string) => {
    const at = found.lastIndexOf(old);
    renewed = renewed.replace(found, () => found.slice(0, at) + answer + found.slice(at + old.length));
  };
  for (const [found, command = "", old = ""] of text.matchAll(shownJson)) {
    const answer = `${compactJson(await answerTo(command, url))}\n`;
    if (!isDeepStrictEqual(withoutChance(old), withoutChance(answer))) {
      replace(found, old, answer);
    }
  }
  for (const [found, game = "", command = "", lines = "", old = ""] of text.matchAll(shownReview)) {
    const { stdout } = await runKibitz([...command.split(" "), "--url", url], {}, [game]);
    replace(found, old, stdout.split("\n", Number(lines)).join("\n"));
  }
  for (const [found, name, args = "", old = ""] of text.matchAll(shownTool)) {
    const { body } = await send(url, oldMessage("tools/call", { name, arguments: JSON.parse(args) }));
    const { content } = body.result as { readonly content: readonly [{ readonly text: string }] };
    replace(found, old, content[0].text);
  }
  return renewed;
}

async function answerTo(command: string, url: string): Promise<Readonly<Record<string, unknown>>> {
  const { path, headers, body } = partsOf(command);
  const answer = await fetchVerified(
    url + path,
    body === undefined ? { headers } : { method: "POST", headers, body },
  );
  return (await answer.json()) as Record<string, unknown>;
}

/** Waits while the service verifies an endgame table. */
async function fetchVerified(...request: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    const response = await fetch(...request);
    if (response.status !== 503) {
      return response;
    }
    await delay(100);
  }
}

/** Splits a curl command. Supports only single quotes, and a backslash at the end of a line. */
export function partsOf(command: string) {
  const { pathname = "", search = "" } = new URL(
    `http://${/(localhost:8080\S*)/.exec(command)?.[1]?.replaceAll("'", "")}`,
  );
  const header = /-H '([^:]+): ([^']+)'/.exec(command);
  const headers: Record<string, string> = header?.[1] && header[2] ? { [header[1]]: header[2] } : {};
  return { path: pathname + search, headers, body: /-d '([^']+)'/.exec(command)?.[1] };
}

interface RecordedExample {
  readonly summary: string;
  readonly method: string;
  readonly call: string;
  readonly with_key?: true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: object;
  /** Missing in a new example until `npm run update` adds the status and the answer. */
  readonly status?: number;
  readonly answer?: unknown;
}

export const exampleIn = (path: string): RecordedExample => JSON.parse(textOf(path));

/** Keeps the response of the example if only ids, times and similar values have changed. */
export async function exampleWithAnswer(path: string, url: string): Promise<string> {
  const recorded = exampleIn(path);
  if (recorded.status === 429) {
    await ask(url, recorded);
    await ask(url, recorded);
  }
  const response = await ask(url, recorded);
  const real = { ...recorded, status: response.status, answer: await response.json() };
  return isDeepStrictEqual(comparable(recorded), comparable(real)) ? textOf(path) : `${compactJson(real)}\n`;
}

async function ask(url: string, { call, with_key, request, headers }: RecordedExample): Promise<Response> {
  const [method = "", target] = call.split(" ");
  const key = with_key && (await newKey(url));
  return fetchVerified(url + target, {
    method,
    headers: {
      ...headers,
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(request && { "Content-Type": "application/json" }),
    },
    ...(request && { body: JSON.stringify(request) }),
  });
}

async function newKey(url: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${url}/v1/keys`, { method: "POST", headers, body: '{"name": "my bot"}' });
  const { key } = (await answer.json()) as { readonly key: string };
  return key;
}

/** Replaces the time to wait, which depends on the duration of earlier requests. */
function comparable({ status, answer }: RecordedExample): unknown {
  const text = JSON.stringify({ status, answer }).replace(/ in \d+ s\./, " in a moment.");
  return withoutChance(text.replace(/"retry_after_ms":\d+/, '"retry_after_ms":60000'));
}
