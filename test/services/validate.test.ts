import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { createAccess } from "../../src/access/access.ts";
import { createClientAddress } from "../../src/access/client-address.ts";
import { keylessPlan } from "../../src/access/plans.ts";
import { createPositionCache } from "../../src/analysis/validate-request.ts";
import { silentLog } from "../../src/log/log.ts";
import { ClientDisconnected, createOutcome } from "../../src/request/context.ts";
import { createValidate } from "../../src/services/validate.ts";
import type { BeginWork } from "../../src/thread/time-slices.ts";
import { longGame } from "../abuse/long-game.ts";
import { knownEngines } from "../analysis/made-up.ts";
import { buildOf } from "../engine/build-of.ts";
import { openOwnStores } from "../support/own-stores.ts";

const game = longGame();
const evaluation = create(AnalysisService.method.evaluate.input, { fen: "startpos", moves: [...game] });
const review = create(GameService.method.reviewGame.input, { moves: [...game] });
const pgnReview = create(GameService.method.reviewGame.input, { pgn: game.join(" ") });
const shortReview = create(GameService.method.reviewGame.input, { moves: game.slice(0, 120) });

/** Counts the steps of all tasks. The client disconnects at the step `leaveAt`. */
async function open(leaveAt = Number.POSITIVE_INFINITY, build = buildOf()) {
  const leaving = new AbortController();
  const seen = { steps: 0 };
  const beginWork: BeginWork = (check) => async () => {
    seen.steps++;
    if (seen.steps === leaveAt) {
      leaving.abort(new ClientDisconnected());
    }
    check?.();
  };
  const access = await createAccess({
    mode: "public",
    plans: [keylessPlan],
    keysPerDay: 0,
    keyExpiryDays: 90,
    selfServiceKeysMax: 100,
    pepper: undefined,
    addressOf: createClientAddress([], silentLog),
    stores: openOwnStores(),
    log: { warn() {} },
  });
  const engines = { ...knownEngines([build]), validatePosition: createPositionCache(beginWork) };
  const account = await access.accountOf({
    address: "192.0.2.1",
    forwardedFor: undefined,
    authorization: undefined,
  });
  return {
    validate: createValidate({ access, engines, beginWork }),
    call: { account, outcome: createOutcome(), signal: leaving.signal },
    seen,
    leaving,
  };
}

test.each([
  ["an evaluation of 600 moves", 3, evaluation, AnalysisService.method.evaluate],
  ["a review of 600 moves", 3, review, GameService.method.reviewGame],
  ["a review of 600 moves in PGN", 6, pgnReview, GameService.method.reviewGame],
  ["the positions of a review of 120 moves", 40, shortReview, GameService.method.reviewGame],
] as const)(
  "if the client disconnects, Kibitz stops validating at the next step: %s",
  async (_, leaveAt, message, method) => {
    const { validate, call, seen } = await open(leaveAt);
    await expect(validate.message(message, method, call)).rejects.toThrow(ClientDisconnected);
    expect(seen.steps).toBe(leaveAt);
  },
);

test("a request whose client has already disconnected is not validated", async () => {
  const { validate, call, seen, leaving } = await open();
  leaving.abort(new ClientDisconnected());
  await expect(validate.request(evaluation, call)).rejects.toThrow(ClientDisconnected);
  expect(seen.steps).toBe(0);
});

test("a review beyond the plan is refused before its 600 positions are built", async () => {
  const { validate, call, seen } = await open();
  await expect(validate.review(review, call)).rejects.toMatchObject({ code: "upgrade_needed" });
  // Playing 20 moves is one step, and building one position is one step.
  expect(seen.steps).toBeLessThan(100);
});

test("a review with an illegal move is refused as invalid, even if the game is also beyond the plan", async () => {
  const { validate, call } = await open();
  const message = create(GameService.method.reviewGame.input, { moves: [...game.slice(0, 599), "Kxh8"] });
  await expect(validate.review(message, call)).rejects.toMatchObject({ code: "illegal_move" });
});

test("a review within the plan has a position after each move", async () => {
  const { validate, call } = await open();
  const { game: built, requests } = await validate.review(shortReview, call);
  expect(requests.map(({ position }) => position)).toEqual(built.positions);
  expect(built.positions.slice(1).map(({ fen }) => fen)).toEqual(built.moves.map(({ fenAfter }) => fenAfter));
});

test("a default limit above the plan is reduced to the plan, and only a limit that a caller asks for is refused", async () => {
  const { nodesMax } = keylessPlan.limits;
  const build = buildOf({ defaultLimit: { depth: undefined, nodes: nodesMax + 1 } });
  const { validate, call } = await open(undefined, build);
  const one = { fen: "startpos" };
  const game = { moves: ["e4"] };
  const evaluate = AnalysisService.method.evaluate.input;
  const reviewGame = GameService.method.reviewGame.input;
  const nodes = BigInt(nodesMax + 1);
  expect(await validate.request(create(evaluate, one), call)).toMatchObject({ nodes: nodesMax });
  const { requests } = await validate.review(create(reviewGame, game), call);
  expect(requests.map((request) => request.nodes)).toEqual([nodesMax, nodesMax]);
  const refused = { code: "upgrade_needed", violations: [{ pointer: "/nodes" }] };
  await expect(validate.request(create(evaluate, { ...one, nodes }), call)).rejects.toMatchObject(refused);
  await expect(validate.review(create(reviewGame, { ...game, nodes }), call)).rejects.toMatchObject(refused);
});
