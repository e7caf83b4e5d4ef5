import { connect } from "node:net";
import { expect, test } from "vitest";
import { createMetrics } from "../../../../src/metrics/metrics.ts";
import { startFen } from "../../../contract/protocols/cases/case.ts";
import { heads } from "../../../contract/protocols/heads.ts";
import { get, post } from "../../../contract/protocols/post.ts";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { newCaller } from "../../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../../support/plans-file.ts";
import { useApp } from "../../../support/running-app.ts";
import { useTurnedClock } from "../../../support/turned-clock.ts";

const windowS = 20;

const passMs = useTurnedClock();
const metrics = createMetrics("1.2.3");
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile({
      id: "keyless",
      limits: { rates: [rateOf("minute", 100, 60), rateOf("refusals", 4, windowS, "refusal")] },
    }),
    KIBITZ_TRUST_PROXY: "127.0.0.1",
  },
  { engines: createEnginesInProcess(), metrics },
);

const quick = { fen: startFen, depth: 1 };
const json = { "Content-Type": "application/json" };
const badPosition = { fen: "8/8/8/8/8/8/8/8 w - - 0 1" };
const tooDeep = { ...quick, depth: 30 };

test.each(heads)(
  "if a caller over $name has used up the error quota, even correct requests are refused until Retry-After has passed",
  async ({ ask, ...kind }) => {
    const caller = newCaller();
    for (let count = 0; count < 4; count++) {
      expect((await ask(app.url, tooDeep, caller)).status).toBe(kind.upgrade);
    }
    const askedAt = performance.now();
    const refused = await ask(app.url, quick, caller);
    expect(refused.status).toBe(kind.later);
    // A caller whose error quota is used up gets refusals after 100 ms. Timers may fire a millisecond early.
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(99);
    const [, refusedForS] =
      /^"refusals";r=0;t=(\d+), "minute";r=100;t=\d+$/.exec(refused.headers.get("ratelimit") ?? "") ?? [];
    expect(refusedForS).toBeDefined();
    const retryAfter = refused.headers.get("retry-after") ?? refused.trailers.get("retry-after");
    expect(retryAfter ?? refusedForS).toBe(refusedForS);
    expect(retryAfter).toEqual(kind.errorsHaveHeaders ? expect.stringMatching(/^([1-9]|1\d|20)$/) : null);
    expect((await ask(app.url, quick, newCaller())).status).toBe(kind.ok);
    passMs(Number(retryAfter ?? windowS) * 1000);
    expect((await ask(app.url, quick, caller)).status).toBe(kind.ok);
  },
);

test("metrics count the requests that the error quota refuses over each protocol, with the name of the quota", async () => {
  const counted = async () =>
    Number(
      /^kibitz_limited_total\{limit="keyless\/refusals"\} (\d+)$/m.exec(await metrics.print())?.[1] ?? 0,
    );
  for (const { ask } of heads) {
    const caller = newCaller();
    for (let count = 0; count < 4; count++) {
      await ask(app.url, tooDeep, caller);
    }
    const before = await counted();
    await ask(app.url, quick, caller);
    await expect.poll(counted).toBe(before + 1);
  }
});

/** Uses up a caller's error quota with a long game that ends in an illegal move. Refusing such a game is expensive. */
async function spend(caller: Readonly<Record<string, string>>): Promise<void> {
  const moves = Array.from({ length: 50 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();
  const refused = await post(
    `${app.url}/v1/eval`,
    { fen: startFen, moves: [...moves, "a1a1"] },
    { ...json, ...caller },
  );
  expect(refused.body).toMatchObject({ status: 400, code: "illegal_move" });
}

test("refusing an expensive request uses more of the error quota than other refusals", async () => {
  const caller = newCaller();
  await spend(caller);
  const { status, body } = await post(`${app.url}/v1/eval`, quick, { ...json, ...caller });
  expect([status, body.code, body.next_action]).toEqual([429, "rate_limited", "retry_later"]);
});

test("a caller whose error quota is used up can still read GET /price", async () => {
  const caller = newCaller();
  await spend(caller);
  expect((await get(`${app.url}/price`, { headers: caller })).status).toBe(200);
});

test("each refused request of a batch uses error quota; when the quota is used up, the remaining requests are refused with rate_limited", async () => {
  // Three requests of a batch run at the same time. So two more may already run when the error quota is used up.
  const requests = [badPosition, { x: 1 }, quick, tooDeep, 7, quick, quick, quick, badPosition];
  const { status, body } = await post(`${app.url}/v1/eval/batch`, { requests }, { ...json, ...newCaller() });
  expect(status).toBe(200);
  const codes = (body as unknown as { result: object | null; problem: { code: string } | null }[]).map(
    ({ problem }) => problem?.code ?? "ok",
  );
  expect(codes.slice(0, 5)).toEqual([
    "illegal_position",
    "unknown_field",
    "ok",
    "upgrade_needed",
    "invalid_type",
  ]);
  expect(["ok", "rate_limited"]).toEqual(expect.arrayContaining(codes.slice(5, 7)));
  expect(codes.slice(7)).toEqual(["rate_limited", "rate_limited"]);
});

test("a caller whose error quota is used up is refused before the request body has arrived", async () => {
  const caller = newCaller();
  await spend(caller);
  const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
  const head = [
    "POST /v1/eval HTTP/1.1",
    "Host: x",
    "Content-Type: application/json",
    "Content-Length: 60000",
    `X-Forwarded-For: ${caller["x-forwarded-for"]}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const answer = await new Promise<string>((resolve) =>
    socket.once("data", (bytes) => resolve(String(bytes))),
  );
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1.1 429 /);
});
