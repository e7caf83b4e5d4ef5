import { readdirSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { oldMessage, send } from "../test/protocols/mcp/messages.ts";
import { compactJson } from "../test/support/compact-json.ts";
import { withoutChance } from "../test/support/without-chance.ts";

/** Answers that documents show. Tests compare them with those of a service, and `npm run update` writes them. */
const root = new URL("../", import.meta.url);
export const documents = ["README.md", "docs/api.md", "docs/agents.md"] as const;
export const examples = readdirSync(new URL("docs/examples/", root)).map((file) => `docs/examples/${file}`);

/** Answers are without a native Stockfish, as on the machines of most readers, and not from a cache. */
export const plainSettings = {
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19",
  KIBITZ_ACCESS: "public",
  KIBITZ_CACHE_MB: "0",
} as const;

/** The plans for the examples that are rejected with 429: they allow two requests a minute. */
export const twoAMinute = [
  { id: "keyless", limits: { rates: [{ name: "minute", quota: 2, window_s: 60, unit: "request" }] } },
];

export const textOf = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Matches a command with its answer below it, which may be folded. */
export const shownJson = /```sh\n(curl [^`]+)```\n+(?:<details>.*\n+)?```json\n((?:.*\n)*?)```/g;
/** Matches a command that uses jq to show one field of the answer. */
export const shownField = /```sh\n(curl [^`]+) \| jq -r '\.(\w+) \/\/ \.detail'\n```\n+```text\n(.*)\n```/g;
/** Matches a call of a tool by an agent, with the text that the agent reads. */
const shownTool = /A call of `(\w+)` with `(\{.+\})`.*:\n\n```text\n([\s\S]+?)\n```/g;

/** If only values such as ids and times differ, keeps the old answer. */
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
  for (const [found, command = "", field = "", old = ""] of text.matchAll(shownField)) {
    replace(found, old, String((await answerTo(command, url))[field]));
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
  const answer = await fetch(
    url + path,
    body === undefined ? { headers } : { method: "POST", headers, body },
  );
  return (await answer.json()) as Record<string, unknown>;
}

/** Splits a curl command into its parts. The command may have only single quotes, and `\` at line ends. */
export function partsOf(command: string) {
  const { pathname = "", search = "" } = new URL(
    `http://${/(localhost:8080\S*)/.exec(command)?.[1]?.replaceAll("'", "")}`,
  );
  const header = /-H '([^:]+): ([^']+)'/.exec(command);
  const headers: Record<string, string> = header?.[1] && header[2] ? { [header[1]]: header[2] } : {};
  return { path: pathname + search, headers, body: /-d '([^']+)'/.exec(command)?.[1] };
}

export interface RecordedExample {
  readonly summary: string;
  readonly method: string;
  /** The method and path of the request, such as `GET /price?depth=20`. */
  readonly call: string;
  /** Set if the caller sends a key. */
  readonly with_key?: true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: object;
  /** The status of the answer. It is absent in a new example, like `answer`; `npm run update` adds both. */
  readonly status?: number;
  readonly answer?: unknown;
}

export const exampleIn = (path: string): RecordedExample => JSON.parse(textOf(path));

/** If only values such as ids and times differ, keeps the old answer. */
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
  return fetch(url + target, {
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

/** The time to wait depends on how long the first request took, so it is replaced before answers are compared. */
function comparable({ status, answer }: RecordedExample): unknown {
  const text = JSON.stringify({ status, answer }).replace(/ in \d+ s\./, " in a moment.");
  return withoutChance(text.replace(/"retry_after_ms":\d+/, '"retry_after_ms":60000'));
}
