import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import example from "../../../docs/examples/upgrade-needed.json" with { type: "json" };
import { PlanLimitsSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { type Problem, ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { duration, pageOf, problemWords, suggestionWords } from "../../../web/src/problem/problem-words.ts";

const thrown = (value: Problem, headers?: Record<string, string>) =>
  new ConnectError("no", Code.Unknown, headers, [{ desc: ProblemSchema, value }]);

const limits = create(PlanLimitsSchema, {
  reviewPliesMax: 120,
  concurrent: 2,
  rates: [{ name: "minute", quota: 60n, windowS: 60, unit: "request" }],
});

const caller = { limits, searchMoves: ["e4", "Zz"] };

const beyondPlan = (pointers: Readonly<Record<string, number>>, nextAction = "get_api_key") =>
  create(ProblemSchema, {
    code: "upgrade_needed",
    nextAction,
    errors: Object.entries(pointers).map(([pointer, maximum]) => ({ pointer, allowed: { maximum } })),
    suggestedRequest: Object.fromEntries(
      Object.entries(pointers).map(([pointer, maximum]) => [pointer.slice(1), maximum]),
    ),
  });

test.each([
  [
    fromJson(ProblemSchema, example.answer, { ignoreUnknownFields: true }),
    "A free key is needed for depth above 20",
    "Analyse to depth 20",
  ],
  [
    beyondPlan({ "/depth": 20, "/multipv": 5 }),
    "A free key is needed for depth above 20 and more than 5 lines",
    "Analyse to depth 20 with 5 lines",
  ],
  [
    beyondPlan({ "/nodes": 40_000_000 }, "reduce_limits"),
    "Your plan does not allow more than 40,000,000 nodes",
    "Analyse with 40,000,000 nodes",
  ],
  [
    create(ProblemSchema, {
      code: "upgrade_needed",
      nextAction: "get_api_key",
      errors: [{ pointer: "/pgn" }],
      suggestedRequest: { pgn: "1. e4" },
    }),
    "A free key is needed for a game of more than 60 moves",
    "Review the first 60 moves",
  ],
])(
  "the page says what the plan does not allow, and a button offers the largest allowed request: %#",
  (problem, title, button) => {
    expect(problemWords(thrown(problem), caller)).toEqual({ title, details: [] });
    expect(suggestionWords(problem, limits)).toBe(button);
  },
);

test("the page repeats the service's message about an unknown field", () => {
  const problem = create(ProblemSchema, {
    ...beyondPlan({ "/wit": 3 }),
    title: "Too much",
    detail: "Wit up to 3.",
  });
  expect(problemWords(thrown(problem), caller)).toEqual({ title: "Too much", details: ["Wit up to 3."] });
  expect(suggestionWords(problem, limits)).toBe("Ask what the service suggests");
});

test.each([
  [
    "rate_limited",
    { RateLimit: '"minute";r=0;t=24', "RateLimit-Policy": '"minute";q=60;w=60' },
    "Too fast: 60 positions a minute",
  ],
  ["rate_limited", {}, "Too many requests"],
  ["concurrency_limited", {}, "Two searches are already running from this network"],
  ["quota_exhausted", {}, "The engine time of your plan is used up"],
])("a short message says that the caller has to wait: %s %j", (code, headers, title) => {
  const problem = create(ProblemSchema, { code, detail: "Try again in 24 s." });
  expect(problemWords(thrown(problem, headers), caller)).toEqual({ title, details: [] });
});

test("if a part of the quota is left, the page says that a review counts several times", () => {
  const headers = { RateLimit: '"minute";r=3;t=24', "RateLimit-Policy": '"minute";q=60;w=60' };
  const problem = create(ProblemSchema, { code: "rate_limited" });
  expect(problemWords(thrown(problem, headers), caller)).toEqual({
    title: "Too fast: 60 positions a minute",
    details: ["A review counts once for every ten positions, and only 3 are left."],
  });
});

test("if the request quota allows only shorter games than the plan, the button reviews the part that the quota allows", () => {
  const few = create(PlanLimitsSchema, {
    reviewPliesMax: 120,
    rates: [{ name: "minute", quota: 4n, unit: "request" }],
  });
  const problem = beyondPlan({ "/pgn": 39 });
  expect(
    suggestionWords(create(ProblemSchema, { ...problem, suggestedRequest: { pgn: "1. e4" } }), few),
  ).toBe("Review the first 19 moves");
});

test.each(["rate_limited", "quota_exhausted", "concurrency_limited"])(
  "a caller who has to wait is told that a key allows more: %s",
  (code) => {
    const problem = create(ProblemSchema, { code, upgrade: { plan: "free", url: "/v1/keys" } });
    expect(problemWords(thrown(problem), caller)?.details).toEqual([
      "With a key of the plan “free”, you may ask more often.",
    ]);
  },
);

test("if a text is too large for a review, the page says what to do", () => {
  const detail = "The message is larger than 524288 bytes, the maximum for this call.";
  const problem = create(ProblemSchema, { code: "body_too_large", title: "Body too large", detail });
  expect(problemWords(thrown(problem), caller)).toEqual({
    title: "This game has too much text",
    details: ["Delete comments or variations, and try again. A game of moves alone is never too large."],
  });
});

test("a caller without a key is asked to contact the owner if the service creates no keys", () => {
  const asking = (nextAction: string) =>
    problemWords(thrown(create(ProblemSchema, { code: "api_key_required", nextAction })), caller)?.details[0];
  expect(asking("contact_operator")).toContain("Ask its owner for one");
  expect(asking("get_api_key")).toBeUndefined();
});

test("the page reports that the service does not respond, or shows the HTTP status that another program sent", () => {
  expect(problemWords(new TypeError("Failed to fetch"), caller)?.title).toBe("The service does not answer");
  expect(problemWords(new ConnectError("HTTP 404", Code.Unimplemented), caller)?.details[0]).toContain(
    "HTTP 404",
  );
  expect(problemWords(new ConnectError("left", Code.Canceled), caller)).toBeUndefined();
});

test("the button for a corrected FEN contains the FEN, and the button for a game says where the review ends", () => {
  const suggesting = (pointer: string, suggestedRequest: JsonObject) =>
    suggestionWords(create(ProblemSchema, { errors: [{ pointer }], suggestedRequest }), limits);
  expect(suggesting("/fen", { fen: "startpos" })).toBe("Use startpos");
  expect(suggesting("/pgn", { pgn: "1. e4" })).toBe("Review the game up to there");
  expect(suggesting("/constructor", {})).toBe("Ask what the service suggests");
});

test("the page lists violations with the labels of its fields, and names an illegal move", () => {
  const errors = [
    { pointer: "/multipv", message: "Too few." },
    { pointer: "/options/skill_level", message: "Too many." },
    { pointer: "/pgn", message: "Wrong (line 3, column 12).", line: 3 },
    { pointer: "/search_moves/1", message: "'Zz' is no move (search_moves[1])." },
  ];
  expect(problemWords(thrown(create(ProblemSchema, { title: "Wrong", errors })), caller)?.details).toEqual([
    "Lines: Too few.",
    "options.skill_level: Too many.",
    "Wrong (line 3, column 12).",
    "“Zz” in “Only these moves” is not legal here.",
  ]);
});

test.each([
  "//elsewhere.example/x",
  "https://elsewhere.example",
  "/problems/../x",
  "javascript:alert(1)",
  "",
])("the page does not link to the foreign error type %j", (type) => {
  expect(pageOf(create(ProblemSchema, { type }))).toBeUndefined();
});

test.each([
  [0, "0 s"],
  [1, "1 s"],
  [44_001, "45 s"],
  [200_000, "3 min 20 s"],
  [18_120_000, "5 h 2 min"],
])("a duration of %d ms is shown as %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
