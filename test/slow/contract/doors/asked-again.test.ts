import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Case } from "../../../contract/doors/cases/case.ts";
import { evaluations } from "../../../contract/doors/cases/evaluations.ts";
import { games } from "../../../contract/doors/cases/games.ts";
import { refusedEngines } from "../../../contract/doors/cases/refused-engines.ts";
import { refusedRequests } from "../../../contract/doors/cases/refused-requests.ts";
import { refusedReviews, reviews } from "../../../contract/doors/cases/reviews.ts";
import { warnings } from "../../../contract/doors/cases/warnings.ts";
import { connectBinary, grpc } from "../../../contract/doors/clients/connect.ts";
import { grpcJs } from "../../../contract/doors/clients/grpc-js.ts";
import { json } from "../../../contract/doors/clients/json.ts";
import type { Door, Outcome, Plain } from "../../../contract/doors/door.ts";
import { lasting } from "../../../contract/doors/lasting.ts";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { useApp } from "../../../support/running-app.ts";

const answers: readonly Case[] = [...evaluations, ...games, ...reviews, ...warnings];
const refusals: readonly Case[] = [...refusedRequests, ...refusedEngines, ...refusedReviews];
const cases = [...answers, ...refusals].filter(({ call }) => call !== "evaluateBatch");

// From the second time on a request is remembered, from the third on it is the one that was remembered.
const times = 4;

const app = useApp({}, { engines: createEnginesInProcess({ nodesAPly: 400 }) });

/** All but whether it was known: that is what differs when a request comes again. */
function apartFromCached(outcome: Outcome): Plain {
  const { search, ...rest } = lasting(outcome);
  if (Array.isArray(search) || search === undefined) {
    return { ...rest, search };
  }
  const { cached: _, ...others } = search as Plain;
  // Of a review, what its positions were asked of, too.
  const { searched: _searched, nodes: _nodes, ...ofReview } = others;
  return { ...rest, search: "positions" in others ? ofReview : others };
}

function idOf(outcome: Outcome): unknown {
  if (outcome.kind === "refusal") {
    return outcome.refusal.requestId;
  }
  const { review, id } = outcome.answer as { readonly review?: Plain; readonly id?: unknown };
  return review ? review.id : id;
}

describe.each([json, grpc, grpcJs, connectBinary])("$name", (kind) => {
  let door: Door;
  beforeAll(() => {
    door = kind.open(app.url);
  });
  afterAll(() => door[Symbol.asyncDispose]());

  test.each(cases.filter((one) => kind !== json || one.kind === "answer" || !one.rpcOnly))(
    `${kind.name} answers an equal request the same again, under a new id: $name`,
    async ({ call, request, headers }) => {
      const outcomes: Outcome[] = [];
      for (let time = 0; time < times; time++) {
        outcomes.push(await door.call(call, request, headers));
      }
      const [first, ...others] = outcomes.map(apartFromCached);
      expect(others).toEqual(others.map(() => first));
      expect(new Set(outcomes.map(idOf)).size).toBe(times);
      expect(new Set(outcomes.map(({ requestId }) => requestId)).size).toBe(times);
    },
  );
});
