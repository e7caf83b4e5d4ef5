import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { createRouterTransport, type Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { requestKey } from "../../src/calls/context-keys.ts";
import { createCalls, type Implementation } from "../../src/calls/invoke.ts";
import { localContext } from "../../src/request/context.ts";

const evaluate = AnalysisService.method.evaluate;
const request = create(AnalysisRequestSchema, { fen: "a fen" });
const context = { request: localContext(), signal: new AbortController().signal };

const answering: Implementation = {
  service: AnalysisService,
  methods: { evaluate: async () => ({ summary: "an answer" }) } as never,
};

/** Writes down when it is entered and left, and what it sees. */
function recorder(name: string, seen: unknown[]): Interceptor {
  return (next) => async (request) => {
    seen.push(`${name} before`, request.method.name, request.service.typeName, request.stream);
    const response = await next(request);
    seen.push(`${name} after`, response.method.name, response.service.typeName, response.stream);
    return response;
  };
}

describe("a lean call", () => {
  test("a direct call runs the interceptors in the order of Connect, and they see the same", async () => {
    const lean: unknown[] = [];
    const byConnect: unknown[] = [];
    const chain = (seen: unknown[]) => ["outer", "middle", "inner"].map((name) => recorder(name, seen));

    await createCalls([answering], chain(lean)).unary(evaluate)(request, context);
    const transport = createRouterTransport(
      ({ service }) => service(AnalysisService, answering.methods as never),
      { router: { interceptors: chain(byConnect) } },
    );
    await transport.unary(evaluate, undefined, undefined, undefined, request);

    expect(lean.filter((one) => /before|after/.test(String(one)))).toEqual([
      "outer before",
      "middle before",
      "inner before",
      "inner after",
      "middle after",
      "outer after",
    ]);
    expect(lean).toEqual(byConnect);
  });

  test("a direct call gives the method its message, request and signal, and returns a message", async () => {
    let given:
      | { readonly message: Message; readonly request: unknown; readonly signal: AbortSignal }
      | undefined;
    const implementation: Implementation = {
      service: AnalysisService,
      methods: {
        evaluate: (async (message: Message, { values, signal }: { values: never; signal: AbortSignal }) => {
          given = { message, request: (values as Map<unknown, unknown>).get(requestKey), signal };
          return { summary: "an answer" };
        }) as never,
      },
    };
    const answer = await createCalls([implementation], []).unary(evaluate)(request, context);
    expect(given?.message).toBe(request);
    expect(given?.request).toBe(context.request);
    expect(given?.signal).toBe(context.signal);
    expect(answer).toMatchObject({
      $typeName: "chess.analysis.v1.EvaluateResponse",
      summary: "an answer",
      lines: [],
    });
  });

  test("a direct call creates no signal if none is used", async () => {
    const lazy = {
      request: context.request,
      get signal(): AbortSignal {
        return expect.fail("somebody asked for the signal");
      },
    };
    const call = createCalls([answering], [recorder("one", [])]).unary(evaluate);
    await expect(call(request, lazy)).resolves.toMatchObject({ summary: "an answer" });
  });

  test("interceptors of a direct call can add headers, and see the path that Connect would have", async () => {
    const seen: unknown[] = [];
    const look: Interceptor = (next) => async (request) => {
      seen.push(request.url, request.requestMethod, [...request.header]);
      const response = await next(request);
      response.header.set("x-one", "1");
      response.trailer.set("x-two", "2");
      seen.push(response.header.get("x-one"), response.trailer.get("x-two"));
      return response;
    };
    await createCalls([answering], [look]).unary(evaluate)(request, context);
    expect(seen).toEqual(["/chess.analysis.v1.AnalysisService/Evaluate", "POST", [], "1", "2"]);
  });

  test.each<[string, (error: Error) => unknown]>([
    [
      "throws",
      (error) => {
        throw error;
      },
    ],
    ["rejects", (error) => Promise.reject(error)],
  ])("a direct call fails with what its method %s, unchanged", async (_, fail) => {
    const mistake = new Error("mistake");
    const failing: Implementation = {
      service: AnalysisService,
      methods: { evaluate: (() => fail(mistake)) as never },
    };
    await expect(createCalls([failing], []).unary(evaluate)(request, context)).rejects.toBe(mistake);
  });

  test("an interceptor can refuse a direct call before its method is called", async () => {
    const refusal = new Error("no");
    const refuse: Interceptor = () => () => {
      throw refusal;
    };
    const failing: Implementation = {
      service: AnalysisService,
      methods: { evaluate: (() => expect.fail("asked")) as never },
    };
    await expect(createCalls([failing], [refuse]).unary(evaluate)(request, context)).rejects.toBe(refusal);
  });
});

describe("what has no unary implementation", () => {
  test.each([
    ["a stream", AnalysisService.method.streamEvaluate],
    ["another method", AnalysisService.method.findBestMove],
    ["another service's", KeyService.method.getKey],
  ])("a direct call of %s fails at the start, not in a call", (_, method) => {
    expect(() => createCalls([answering], []).unary(method as unknown as DescMethodUnary)).toThrow(
      `${method.parent.typeName}.${method.name} has no unary answer`,
    );
  });
});
