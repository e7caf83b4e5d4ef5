import { expect, test } from "vitest";
import { startFen } from "../../../contract/protocols/cases/case.ts";
import { post } from "../../../contract/protocols/post.ts";
import { useApp } from "../../../support/running-app.ts";

/** A keyless caller may run two searches at the same time. A review or a batch also runs two searches at the same time. */
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_SLOTS: "1" });

const moves = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O".split(" ");
const requests = moves.map((_, ply) => ({ fen: startFen, moves: moves.slice(0, ply), depth: 12 }));

test.each([
  ["a review", "/v1/review", { moves, depth: 13 }],
  ["a batch", "/v1/eval/batch", { requests }],
])(
  "a caller's single request is answered while %s of the same caller is still running",
  async (_, path, body) => {
    let isOver = false;
    const long = post(app.url + path, body).finally(() => {
      isOver = true;
    });
    let between = 0;
    for (let fullmove = 2; !isOver && fullmove < 12; fullmove++) {
      // A new position each time, so that no answer is in the cache.
      const fen = startFen.replace(/1$/, `${fullmove}`);
      const { status } = await post(`${app.url}/v1/eval`, { fen, depth: 5 });
      expect(status).toBe(200);
      between += isOver ? 0 : 1;
    }
    expect(between).toBeGreaterThan(1);
    expect(await long).toMatchObject({ status: 200 });
  },
);

test("if a caller starts many searches at the same time, some are refused with status 429", async () => {
  const long = post(`${app.url}/v1/review`, { moves: ["d4", ...moves.slice(1, 2), "c4", "d6"], depth: 14 });
  const ask = (depth: number) => post(`${app.url}/v1/eval`, { fen: startFen, depth, multipv: 2 });
  const answers = await Promise.all([9, 10, 11, 12, 13, 14, 15].map(ask));
  expect(answers.map(({ status }) => status)).toContain(429);
  await long;
});
