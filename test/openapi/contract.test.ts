import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { requestBounds } from "../../src/analysis/analysis.ts";
import { errorCodes, errorKind } from "../../src/errors/catalog.ts";
import { routesFromServices } from "../../src/protocols/json/routes.ts";
import { startFen } from "../protocols/json/serve-gateway.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useApp } from "../support/running-app.ts";
import { violationsOf } from "./described.ts";
import { unreadableParts } from "./unreadable.ts";

type Plain = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly responses: Readonly<Record<string, Plain>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Plain>>;
    readonly responses: Readonly<Record<string, Plain>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const generated: Document = JSON.parse(readFileSync(join(root, "gen/openapi.json"), "utf8"));
const app = useApp({}, { engines: createEnginesInProcess() });

const schemaOf = (name: string) => ["components", "schemas", name];

describe("the routes", () => {
  const services = [AnalysisService, GameService, KeyService];

  test("the OpenAPI document contains exactly the routes of the JSON gateway", () => {
    const described = Object.entries(generated.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([verb, { description = "" }]) => [
        `${verb.toUpperCase()} ${path}`,
        ...[...description.matchAll(/The same as `(.+?)`\./g)].map(([, other]) => other),
      ]),
    );
    const served = routesFromServices(services).map(({ verb, path }) => `${verb} ${path}`);
    expect(described.toSorted()).toEqual(served.toSorted());
  });

  test("the OpenAPI document lists the engines and the price once, without /v1", () => {
    const paths = Object.keys(generated.paths).filter((path) => /engines|price/.test(path));
    expect(paths).toEqual(["/engines", "/price"]);
  });

  test("all operation ids of the OpenAPI document are different", () => {
    const ids = Object.values(generated.paths)
      .flatMap((operations) => Object.values(operations))
      .map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the errors", () => {
  const problem = generated.components.schemas.Problem as {
    readonly description: string;
    readonly properties: Readonly<Record<string, { readonly examples?: readonly string[] }>>;
  };

  test("the OpenAPI document lists all error codes with their next action", () => {
    expect(problem.properties.code?.examples).toEqual(errorCodes);
    const actions = new Set(errorCodes.map((code) => errorKind(code).nextAction));
    expect(new Set(problem.properties.next_action?.examples)).toEqual(actions);
    for (const code of errorCodes) {
      expect(problem.description).toContain(`\`${code}\``);
    }
  });

  test("the OpenAPI document lists the possible errors of each call", () => {
    const responses = Object.values(generated.components.responses).map(({ description }) => description);
    // Codes of unknown paths, wrong methods, RPCs and MCP, which no JSON call can return.
    const elsewhere = [
      "not_found",
      "method_not_allowed",
      "unimplemented",
      "deadline_exceeded",
      "origin_not_allowed",
      "host_not_allowed",
    ];
    const listed = errorCodes.filter((code) =>
      responses.some((text) => (text as string).includes(`\`${code}\``)),
    );
    expect(listed).toEqual(errorCodes.filter((code) => !elsewhere.includes(code)));
  });
});

describe("client generators", () => {
  test("the OpenAPI document avoids everything that client generators cannot process", () => {
    expect(unreadableParts(generated)).toEqual([]);
  });

  const page = {
    type: "object",
    properties: { turn: { type: ["string", "null"], "x-extensible-enum": ["white"] } },
  };
  const turns = [{ $ref: "#/components/schemas/Color" }, { type: "string" }, { type: "null" }];
  const withTurn = (turn: object): Document => ({
    paths: generated.paths,
    components: {
      ...generated.components,
      schemas: { Color: { type: "string", enum: ["white"] }, Page: { ...page, properties: { turn } } },
    },
  });

  test.each([
    ["anyOf of an enum and a text", { anyOf: turns.slice(0, 2) }, "a union that is not a reference"],
    ["anyOf of an enum, a text and null", { anyOf: turns }, "a union that is not a reference"],
    ["oneOf of an enum and null", { oneOf: [turns[0], turns[2]] }, "a union that is not a reference"],
    ["oneOf of two objects", { oneOf: [{ type: "object" }, { type: "object" }] }, "a union that is not"],
    ["allOf of a reference", { allOf: [{ $ref: "#/components/schemas/Page" }] }, "a union that is not"],
    ["a text or a number", { type: ["string", "number"] }, "several types"],
    ["an enum with null", { type: ["string", "null"], enum: ["white", null] }, "an enum that may be null"],
  ])("the check for client generators names the place of %s", (_, turn, reason) => {
    expect(unreadableParts(withTurn(turn))).toEqual([
      expect.stringMatching(`^/components/schemas/Page/properties/turn: ${reason}`),
    ]);
  });

  test("the check for client generators accepts an object or null, and a text with known words or null", () => {
    expect(unreadableParts(withTurn(page.properties.turn))).toEqual([]);
    expect(
      unreadableParts(withTurn({ oneOf: [{ $ref: "#/components/schemas/Page" }, { type: "null" }] })),
    ).toEqual([]);
  });

  test("the check for client generators names the place of an operation that is listed twice", () => {
    const again = { ...generated.paths["/engines"]?.get, operationId: "again" } as Operation;
    const document = { ...generated, paths: { ...generated.paths, "/v1/engines": { get: again } } };
    expect(unreadableParts(document)).toEqual([
      "/paths/~1v1~1engines/get: the same operation as /paths/~1engines/get",
    ]);
  });
});

describe("the served document", () => {
  test("the served OpenAPI document is the generated document with an additional list of the plans from GET /price", async () => {
    const served = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document & Plain;
    const { plans } = (await (await fetch(`${app.url}/price`)).json()) as { readonly plans: unknown };
    expect(served["x-kibitz-plans"]).toEqual(plans);
    expect(served.paths).toEqual(generated.paths);
    expect(served.components).toEqual(generated.components);
  });
});

describe("the examples", () => {
  const contents = Object.entries(generated.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([verb, operation]) => contentsOf(["paths", path, verb], operation)),
  );
  const shared = Object.entries(generated.components.responses).flatMap(([name, response]) =>
    contentsOf(["components", "responses", name], response),
  );

  test("the examples of the OpenAPI document match their schemas", () => {
    const examples = [...contents, ...shared];
    expect(examples.length).toBeGreaterThan(20);
    for (const { place, value } of examples) {
      expect({ place, violations: violationsOf(value, ...place, "schema") }).toEqual({
        place,
        violations: [],
      });
    }
  });

  interface Content {
    readonly place: readonly string[];
    readonly value: unknown;
  }

  function contentsOf(place: readonly string[], part: unknown): readonly Content[] {
    if (typeof part !== "object" || part === null) {
      return [];
    }
    const { examples, schema } = part as { readonly examples?: object; readonly schema?: object };
    const here = examples && schema ? Object.values(examples).map(({ $ref }) => valueAt($ref)) : [];
    const below = Object.entries(part).flatMap(([key, value]) =>
      key === "schema" || key === "examples" ? [] : contentsOf([...place, key], value),
    );
    return [...here.map((value) => ({ place, value })), ...below];
  }

  function valueAt(ref: string): unknown {
    const name = ref.replace("#/components/examples/", "");
    return generated.components.examples[name]?.value;
  }
});

describe("a stream", () => {
  const ask = async (path: string, accept: string, body: object) => {
    const headers = { "Content-Type": "application/json", Accept: accept };
    return (await fetch(app.url + path, { method: "POST", headers, body: JSON.stringify(body) })).text();
  };

  test.each(["/v1/eval", "/v1/eval/stream"])(
    "the event stream of %s matches the OpenAPI document",
    async (path) => {
      const text = await ask(path, "text/event-stream", { fen: startFen, depth: 4 });
      const events = text
        .split("\n\n")
        .filter((block) => block.startsWith("event:"))
        .map((block) => /^event: (?<event>.*)\ndata: (?<data>.*)$/.exec(block)?.groups);
      expect(events.at(-1)?.event).toBe("done");
      for (const event of events) {
        const { content } = (generated.paths[path]?.post?.responses[200] ?? {}) as {
          readonly content: Plain;
        };
        expect(content).toHaveProperty(["text/event-stream"]);
        const place = ["paths", path, "post", "responses", "200", "content", "text/event-stream", "schema"];
        expect(violationsOf({ ...event }, ...place)).toEqual([]);
        expect(violationsOf(JSON.parse(event?.data ?? ""), ...schemaOf("EvaluateResult"))).toEqual([]);
      }
    },
  );

  const review = { moves: ["f3", "e5", "g4"], depth: 1 };

  test("the event stream of a review matches the OpenAPI document, and contains the result once", async () => {
    const text = await ask("/v1/review", "text/event-stream", review);
    const events = [...text.matchAll(/^event: (?<event>.*)\ndata: (?<data>.*)$/gm)].map(
      ({ groups }) => groups,
    );
    expect(events.map((one) => one?.event)).toEqual(["move", "move", "move", "done"]);
    const place = [
      "paths",
      "/v1/review",
      "post",
      "responses",
      "200",
      "content",
      "text/event-stream",
      "schema",
    ];
    for (const event of events) {
      const schema = event?.event === "done" ? "GameReview" : "MoveReview";
      expect(violationsOf({ ...event }, ...place)).toEqual([]);
      expect(violationsOf(JSON.parse(event?.data ?? ""), ...schemaOf(schema))).toEqual([]);
    }
  });

  test("the line stream of a review matches the OpenAPI document", async () => {
    const text = await ask("/v1/review", "application/x-ndjson", review);
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => Object.keys(line))).toEqual([["move"], ["move"], ["move"], ["review"]]);
    expect(violationsOf(lines.at(-1).review, ...schemaOf("GameReview"))).toEqual([]);
  });

  test("the line stream of a batch matches the OpenAPI document", async () => {
    const text = await ask("/v1/eval/batch", "application/x-ndjson", {
      requests: [{ fen: startFen, depth: 1 }, { fen: "no position" }, "no request"],
    });
    const lines = text.trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(violationsOf(JSON.parse(line), ...schemaOf("EvaluateBatchResult"))).toEqual([]);
    }
  });
});

describe("the schemas", () => {
  const evaluation = async (body: object): Promise<Plain> => {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${app.url}/v1/eval`, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Plain;
  };

  test("the schemas of the OpenAPI document contain the default of each field", async () => {
    const { properties } = generated.components.schemas.AnalysisRequest as {
      readonly properties: Readonly<Record<string, { readonly description: string }>>;
    };
    const defaults = Object.fromEntries(
      Object.entries(properties).flatMap(([name, { description }]) => {
        const [, word, number] = /\bThe default is (?:`([^`]+)`|(\d+))/.exec(description) ?? [];
        return word || number ? [[name, word ?? Number(number)]] : [];
      }),
    );
    const depth = requestBounds.depth.default;
    expect(defaults).toEqual({ depth, multipv: 1, engine: "latest", path: "auto" });
    const bare = await evaluation({ fen: startFen });
    const full = await evaluation({ fen: startFen, ...defaults });
    expect(full.search).toMatchObject({ limits: { depth, multipv: 1 }, cached: true });
    expect(full.best_move).toEqual(bare.best_move);
  });

  test("the schemas of the OpenAPI document allow search results, even with unknown kinds of scores", async () => {
    const answer = await evaluation({ fen: startFen, depth: 1 });
    const score = answer.score as Plain;
    expect(violationsOf(answer, ...schemaOf("EvaluateResult"))).toEqual([]);
    expect(violationsOf({ ...score, cp: null }, ...schemaOf("Score"))).toEqual([]);
  });

  test("the schemas of the OpenAPI document allow a search result without a depth limit", () => {
    const limits = { depth: null, multipv: 1, movetime_ms: null, options: {}, nodes: 500, search_moves: [] };
    expect(violationsOf(limits, ...schemaOf("SearchLimits"))).toEqual([]);
  });

  test("the schemas of the OpenAPI document allow unknown enum values in responses, but not in requests", () => {
    const { AnalysisRequest, EvaluateResult } = generated.components.schemas;
    expect(AnalysisRequest).toMatchObject({
      properties: { path: { type: "string", enum: ["auto", "wasm", "native"] } },
    });
    expect(EvaluateResult).toMatchObject({
      properties: {
        turn: { type: "string", "x-extensible-enum": ["white", "black"], examples: ["white", "black"] },
        draw_claimable: { type: ["string", "null"] },
      },
    });
    expect(JSON.stringify(EvaluateResult)).not.toContain('"enum":');
  });

  test("the schemas of the OpenAPI document allow unknown fields in responses, but not in requests", () => {
    expect(violationsOf({ ...emptyWarning, later: 1 }, ...schemaOf("Warning"))).toEqual([]);
    expect(violationsOf({ fen: startFen, later: 1 }, ...schemaOf("AnalysisRequest"))).not.toEqual([]);
  });
});

const emptyWarning = { code: "no_history", message: "", field: null };
