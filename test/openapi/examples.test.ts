import { describe, expect, test } from "vitest";
import {
  exampleIn,
  examples,
  exampleWithAnswer,
  plainSettings,
  textOf,
  twoAMinute,
} from "../../tools/shown-answers.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";

const isLimited = (path: string) => exampleIn(path).status === 429;

// The examples are recorded responses. `npm run update` records the responses again.
describe("a service with default settings", () => {
  const app = useApp(plainSettings);

  test.each(examples.filter((path) => !isLimited(path)))(
    "the example request %s still gets the recorded response",
    async (path) => {
      expect(textOf(path)).toBe(await exampleWithAnswer(path, app.url));
    },
  );
});

describe("a service that allows two requests a minute", () => {
  const app = useApp({
    ...plainSettings,
    KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
    KIBITZ_PLANS: usePlansFile(...twoAMinute),
  });

  test.each(examples.filter(isLimited))(
    "on a service that allows two requests a minute, the example request %s still gets the recorded response",
    async (path) => {
      expect(textOf(path)).toBe(await exampleWithAnswer(path, app.url));
    },
  );
});

test("docs/examples has an example of every unary call and of the most common problems", () => {
  const all = examples.map(exampleIn);
  const methods = all.filter(({ status }) => status === 200).map(({ method }) => method);
  expect(new Set(methods)).toEqual(
    new Set([
      "Evaluate",
      "FindBestMove",
      "EvaluateBatch",
      "ReviewGame",
      "ListEngines",
      "GetPrice",
      "ProbeTablebase",
      "CreateKey",
      "GetKey",
      "RevokeKey",
    ]),
  );
  expect(all.map(({ status }) => status)).toEqual(expect.arrayContaining([400, 401, 402, 429]));
});
