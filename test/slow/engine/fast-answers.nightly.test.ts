import { test } from "vitest";
import { wasmBuilds } from "../../../src/engine/backends/wasm/builds.ts";
import { expectEqualAnswers } from "../../engine/fast-answers.ts";

const ids = wasmBuilds.filter(({ fast }) => fast !== undefined).map(({ id }) => id);

test.each(ids)(
  "the fast build of %s gives the answers of the npm package stockfish in 220 positions",
  async (id) => {
    await expectEqualAnswers(id, 2, 220);
  },
  600_000,
);
