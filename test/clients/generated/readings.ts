import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { RunningApp } from "../../support/running-app.ts";
import { startForwardingServer } from "./forwarding-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI tests check the types of answers
type Answer = any;

/** The answers of the services, and the same answers after a client has read them and written them as JSON again. */
const names = ["evaluation", "problem", "batch", "review", "newer_evaluation", "newer_review"] as const;
type Answers = Readonly<Record<(typeof names)[number], Answer>>;

interface Reading {
  /** The end of a test name that begins with "a generated client". */
  readonly reads: string;
  /** The answers that the client must have read completely. */
  readonly answers: readonly (keyof Answers)[];
  /** The fields that the program must have read one by one. */
  fields(sent: Answers): object;
}

const newWord = "a_word_of_the_future";

/** The fields that a generated client of any language must read. */
const readings: readonly Reading[] = [
  {
    reads: "reads every field of an evaluation, a batch and a review",
    answers: ["evaluation", "batch", "review"],
    fields: ({ evaluation }) => ({ cp: evaluation.score.cp, best: evaluation.best_move.uci }),
  },
  {
    reads: "reads an error as a problem document with a code, a pointer and a suggested request",
    answers: ["problem"],
    fields: () => ({ code: "invalid_fen", pointers: ["/fen"], codes: [null, null, "invalid_fen"] }),
  },
  {
    reads: "reads null where a value is absent",
    answers: [],
    fields: () => ({
      ...{ mate: null, promotion: null, terminal: null, retry_after_ms: null },
      mates: [null, 1, null],
      judgements: ["inaccuracy", null, "blunder", null],
    }),
  },
  {
    reads: "reads the words of enums that its document does not have",
    answers: ["newer_evaluation", "newer_review"],
    fields: () => ({ bound: newWord, stop_reason: newWord, phases: Array(4).fill(newWord) }),
  },
];

/**
 * Tests that a program reads all answers with its generated client.
 * @param run runs the program with the addresses of the app and of a newer version of the app, and returns what it prints
 */
export function testReadings(app: RunningApp, run: (...addresses: readonly string[]) => Promise<string>) {
  let sent: Answers;
  let seen: { readonly answers: Answers; readonly fields: object };
  beforeAll(async () => {
    const servers = [
      await startForwardingServer(app.url, (answer) => answer),
      await startForwardingServer(app.url, (answer) => withNewWords(answer)),
    ];
    try {
      seen = JSON.parse(await run(...servers.map(({ url }) => url)));
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
    const all = servers.flatMap(({ answers }) => answers);
    expect(all).toHaveLength(names.length);
    sent = Object.fromEntries(names.map((name, index) => [name, all[index]])) as Answers;
  });

  test.each(readings)("a generated client $reads", ({ answers, fields }) => {
    for (const name of answers) {
      // Some clients leave out a field without a value when they write JSON. `fields` has such values.
      expect(withoutNulls(seen.answers[name]), name).toEqual(withoutNulls(sent[name]));
    }
    expect(seen.fields).toMatchObject(fields(sent));
  });
}

/** The fields of answers whose values are words of an enum, by name. */
const enumFields = new Set<string>();
const document = new URL("../../../gen/openapi.json", import.meta.url);
JSON.parse(readFileSync(document, "utf8"), (_, schema) => {
  for (const [name, field] of Object.entries<Answer>(schema?.properties ?? {})) {
    if (field["x-extensible-enum"] ?? field.items?.["x-extensible-enum"]) {
      enumFields.add(name);
    }
  }
  return schema;
});

/** Replaces every word of an enum in an answer, also in arrays. */
function withNewWords(value: Answer, name = ""): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => withNewWords(item, name));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNewWords(each, key)]));
  }
  return typeof value === "string" && enumFields.has(name) ? newWord : value;
}

function withoutNulls(answer: Answer): unknown {
  return JSON.parse(JSON.stringify(answer), (_, value) => value ?? undefined);
}
