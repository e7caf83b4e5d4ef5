import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compactJson } from "../support/compact-json.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { withoutChance } from "../support/without-chance.ts";

/**
 * The examples of the OpenAPI document are real answers. `UPDATE_EXAMPLES=1 npm test -- examples` records them anew;
 * for a new one, add a file without `status` and `answer` first. `npm run generate` then takes them into the document.
 */
interface Recorded {
  readonly summary: string;
  /** Name of the rpc. */
  readonly method: string;
  /** `GET /price?depth=20`. */
  readonly call: string;
  /** Whether the caller has a key. */
  readonly with_key?: true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: object;
  readonly status: number;
  readonly answer: unknown;
}

const folder = new URL("../../docs/examples/", import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(/\.json$/, ""));
const fileOf = (name: string) => new URL(`${name}.json`, folder);
const read = (name: string): Recorded => JSON.parse(readFileSync(fileOf(name), "utf8"));

/** As on a machine without a native Stockfish, where most readers are. */
const plain = {
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19",
  KIBITZ_ACCESS: "public",
};

describe("a service as it is installed", () => {
  const app = useApp(plain);

  test.each(names.filter((name) => read(name).status !== 429))("answers as recorded: %s", async (name) => {
    await compare(name, app.url);
  });
});

describe("a service that allows two requests a minute", () => {
  const app = useApp({
    ...plain,
    KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates: [rateOf("minute", 2, 60)] } }),
  });

  test.each(names.filter((name) => read(name).status === 429))("answers as recorded: %s", async (name) => {
    await ask(app.url, read(name));
    await ask(app.url, read(name));
    await compare(name, app.url);
  });
});

test("there is one of every call that answers once, and of the problems that callers meet first", () => {
  const all = names.map(read);
  const methods = all.filter(({ status }) => status === 200).map(({ method }) => method);
  expect(new Set(methods)).toEqual(
    new Set([
      "Evaluate",
      "FindBestMove",
      "EvaluateBatch",
      "ReviewGame",
      "ListEngines",
      "GetPrice",
      "CreateKey",
      "GetKey",
      "RevokeKey",
    ]),
  );
  expect(all.map(({ status }) => status)).toEqual(expect.arrayContaining([400, 401, 402, 429]));
});

async function compare(name: string, url: string): Promise<void> {
  const recorded = read(name);
  const response = await ask(url, recorded);
  const real = { ...recorded, status: response.status, answer: await response.json() };
  if (process.env.UPDATE_EXAMPLES) {
    writeFileSync(fileOf(name), `${compactJson(real)}\n`);
    return;
  }
  expect(comparable(recorded)).toEqual(comparable(real));
}

async function ask(url: string, { call, with_key, request, headers }: Recorded): Promise<Response> {
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

/** When to come back differs by the seconds that the first request took. */
function comparable({ status, answer }: Recorded): unknown {
  const text = JSON.stringify({ status, answer }).replace(/ in \d+ s\./, " in a moment.");
  return withoutChance(text.replace(/"retry_after_ms":\d+/, '"retry_after_ms":60000'));
}
