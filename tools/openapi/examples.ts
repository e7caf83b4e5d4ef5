import type { DescMethod } from "@bufbuild/protobuf";
import type { ErrorCode } from "../../src/errors/catalog.ts";
import type { Route } from "../../src/protocols/json/routes.ts";
import { type Json, refTo } from "./json.ts";

/** A request with its recorded response, from a file in `docs/examples`. */
export interface Example {
  readonly name: string;
  readonly summary: string;
  readonly method: string;
  readonly request?: Json;
  readonly status: number;
  readonly answer: unknown;
}

export interface Examples {
  ofRequests(route: Route): Json;
  ofAnswers(method: DescMethod): Json;
  ofProblems(route: Route, codes: readonly ErrorCode[]): Json;
  all(): Json;
}

export function createExamples(examples: readonly Example[]): Examples {
  const good = examples.filter(({ status }) => status < 400);
  const bad = examples.filter(({ status }) => status >= 400);
  return {
    ofRequests: ({ method }) =>
      listed(
        good.filter((one) => one.method === method.name && one.request !== undefined),
        requestName,
      ),
    ofAnswers: (method) =>
      listed(
        good.filter((one) => one.method === method.name),
        answerName,
      ),
    ofProblems: ({ method }, codes) => {
      const siblings = method.parent.methods.filter(({ input }) => input === method.input);
      // If a status has only one error code, use its example for every route.
      const fits = ({ method: name, answer }: Example) =>
        codes.includes((answer as { code: ErrorCode }).code) &&
        (codes.length === 1 || siblings.some((each) => each.name === name));
      return listed(bad.filter(fits), answerName);
    },
    all: () =>
      Object.fromEntries(
        examples.flatMap((one): [string, Json][] => [
          ...(one.request && one.status < 400
            ? [[requestName(one), { summary: one.summary, value: one.request }] as [string, Json]]
            : []),
          [answerName(one), { summary: one.summary, value: one.answer }],
        ]),
      ),
  };
}

const requestName = ({ name }: Example) => `${name}-request`;
const answerName = ({ name }: Example) => `${name}-answer`;

function listed(examples: readonly Example[], nameOf: (example: Example) => string): Json {
  return examples.length === 0
    ? {}
    : {
        examples: Object.fromEntries(
          examples.map((example) => [example.name, refTo("examples", nameOf(example))]),
        ),
      };
}
