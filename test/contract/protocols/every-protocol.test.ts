import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { type RunningApp, useApp } from "../../support/running-app.ts";
import { tablesFolder, verifyTablesOf } from "../../support/tables.ts";
import { rpcProtocols } from "./all-protocols.ts";
import type { AnswerCase, Case, RefusalCase } from "./cases/case.ts";
import { evaluations } from "./cases/evaluations.ts";
import { games } from "./cases/games.ts";
import { listings } from "./cases/listings.ts";
import { refusedCalls } from "./cases/refused-calls.ts";
import { refusedEngines } from "./cases/refused-engines.ts";
import { refusedRequests } from "./cases/refused-requests.ts";
import { refusedReviews, reviews } from "./cases/reviews.ts";
import { refusedProbes, tablebases } from "./cases/tablebases.ts";
import { warnings } from "./cases/warnings.ts";
import { json } from "./clients/json.ts";
import { lasting } from "./lasting.ts";
import type { Answered, Outcome, Protocol, ProtocolKind } from "./protocol.ts";
import { statuses } from "./statuses.ts";

const answers: readonly Case[] = [
  ...evaluations,
  ...games,
  ...reviews,
  ...warnings,
  ...listings,
  ...tablebases,
];
const refusals: readonly Case[] = [
  ...refusedRequests,
  ...refusedEngines,
  ...refusedReviews,
  ...refusedCalls,
  ...refusedProbes,
];
const cases = [...answers, ...refusals];
const idPattern = /^[0-9a-f-]{36}$/;
const plainCases = cases.filter((one) => one.kind === "answer" || !one.rpcOnly);

describe("with a real engine", () => {
  const ask = useProtocol(json, useApp({ KIBITZ_SYZYGY: tablesFolder }));

  test.each(plainCases)("plain JSON returns the expected result, $kind: $name", async (one) => {
    check(one, await ask(one), 0);
  });
});

describe("with fake engines", () => {
  // Without a cache, every protocol runs its own search and must return the same result.
  const settings = { KIBITZ_CACHE_MB: "0", KIBITZ_SYZYGY: tablesFolder };
  const app = useApp(settings, { engines: createEnginesInProcess({ nodesAPly: 400 }) });
  const askPlain = cached(useProtocol(json, app));

  describe.each(rpcProtocols)("$name", (kind) => {
    const ask = useProtocol(kind, app);

    test.each(cases)(`${kind.name} returns the same result as plain JSON, $kind: $name`, async (one) => {
      const outcome = await ask(one);
      expect(outcome).toMatchObject({ kind: one.kind, requestId: expect.stringMatching(idPattern) });
      if (one.kind === "refusal") {
        checkRefusal(one, outcome, 1);
      }
      if (one.kind === "answer" || !one.rpcOnly) {
        expect(lasting(outcome)).toEqual(lasting(await askPlain(one)));
      }
    });
  });
});

function useProtocol(kind: ProtocolKind, app: RunningApp): (one: Case) => Promise<Outcome> {
  let protocol: Protocol | undefined;
  beforeAll(async () => {
    await verifyTablesOf(app.url);
    protocol = kind.open(app.url);
  });
  afterAll(() => protocol?.[Symbol.asyncDispose]());
  return async ({ call, request, headers }) => {
    if (protocol === undefined) {
      throw new Error("the protocol is open only while tests run");
    }
    return protocol.call(call, request, headers);
  };
}

/** Caches outcomes, so that each request is sent over plain JSON only once. */
function cached(ask: (one: Case) => Promise<Outcome>): (one: Case) => Promise<Outcome> {
  const outcomes = new Map<Case, Promise<Outcome>>();
  return (one) => {
    const outcome = outcomes.get(one) ?? ask(one);
    outcomes.set(one, outcome);
    return outcome;
  };
}

function check(one: Case, outcome: Outcome, statusColumn: 0 | 1): void {
  expect(outcome.requestId).toMatch(idPattern);
  if (one.kind === "answer") {
    checkAnswer(one, outcome);
  } else {
    checkRefusal(one, outcome, statusColumn);
  }
}

function checkAnswer({ answer, absent = [], warnings = [] }: AnswerCase, outcome: Outcome): void {
  expect(outcome).toMatchObject({ kind: "answer", answer });
  const given = (outcome as Answered).answer;
  expect(absent.filter((name) => name in given)).toEqual([]);
  const sent = (given.warnings ?? []) as readonly { readonly code: string }[];
  expect(sent.map(({ code }) => code)).toEqual(warnings);
}

function checkRefusal(one: RefusalCase, outcome: Outcome, column: 0 | 1): void {
  const { code, nextAction, pointers, suggestion } = one;
  expect(outcome).toMatchObject({
    kind: "refusal",
    status: statuses[code]?.[column],
    refusal: {
      code,
      nextAction: suggestion ? "send_suggested_request" : nextAction,
      requestId: outcome.requestId,
      suggestion: suggestion ?? null,
    },
  });
  if (outcome.kind === "refusal") {
    expect(outcome.refusal.violations.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(outcome.refusal.message).not.toBe("");
  }
}
