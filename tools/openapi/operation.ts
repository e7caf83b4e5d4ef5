import type { DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { eventStream, jsonLines } from "../../src/protocols/json/framers.ts";
import { eventsOf, kindOfRoute, type Route, streamOfRoute } from "../../src/protocols/json/routes.ts";
import { commentOf, summaryOf } from "./comment.ts";
import { isCounted, needsKey } from "./errors-of-route.ts";
import { headersNamed } from "./headers.ts";
import type { Json } from "./json.ts";
import { type ProblemParts, problemResponses } from "./problem-responses.ts";
import { queryParameter } from "./schema-of-message.ts";
import { type Schemas, schemaName } from "./schemas.ts";

interface OperationParts extends ProblemParts {
  readonly routes: readonly Route[];
  readonly schemas: Schemas;
}

export function operationOf(route: Route, parts: OperationParts): Json {
  const { method, body } = route;
  const { schemas, examples } = parts;
  const { summary, details } = summaryOf(method);
  const others = parts.routes.filter((other) => other.method === method && other !== route);
  const same = others.map(({ verb, path }) => `The same as \`${verb} ${path}\`.`);
  const description = [details, ...same].filter(Boolean).join("\n\n");
  const parameters = body ? [] : method.input.fields.map((field) => queryParameter(field, schemas.inRequest));
  return {
    operationId: method.localName,
    tags: [tagOf(method.parent)],
    summary,
    ...(description && { description }),
    ...(needsKey(route) && { security: [{ apiKey: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: schemas.inRequest(method.input), ...examples.ofRequests(route) },
        },
      },
    }),
    responses: {
      200: {
        description: summaryOf(answerOf(route)).summary,
        headers: {
          ...headersNamed("RequestId"),
          ...(isCounted(route) && headersNamed("RateLimitPolicy", "RateLimit")),
          ...(hasEtag(route) && headersNamed("ETag")),
        },
        content: contentOf(route, parts),
      },
      ...(hasEtag(route) && {
        304: {
          description: "If-None-Match names the answer: it has not changed.",
          headers: headersNamed("RequestId", "ETag"),
        },
      }),
      ...problemResponses(route, parts),
    },
  };
}

function hasEtag(route: Route): boolean {
  return route.verb === "GET" && !needsKey(route);
}

export function tagOf({ name }: DescService): string {
  return name.replace(/Service$/, "");
}

/** Returns the type of the response for clients that accept only `application/json`. */
function answerOf(route: Route): DescMessage {
  const { method } = route;
  const { message } = kindOfRoute(route) === "answer_at_end" ? eventsOf(method).answer : {};
  return message ?? method.output;
}

function contentOf(route: Route, { routes, schemas, examples, problem }: OperationParts): Json {
  const { output } = route.method;
  const recorded = examples.ofAnswers(route.method);
  switch (kindOfRoute(route)) {
    case "unary": {
      const stream = streamOfRoute(route, routes);
      return {
        "application/json": { schema: schemas.inAnswer(output), ...recorded },
        ...(stream && { [eventStream]: events(stream.method, schemas, problem) }),
      };
    }
    case "stream":
      return { [eventStream]: events(route.method, schemas, problem) };
    case "answer_at_end":
      return {
        "application/json": { schema: schemas.inAnswer(answerOf(route)), ...recorded },
        [eventStream]: events(route.method, schemas, problem, "done"),
        [jsonLines]: {
          schema: {
            type: "string",
            description:
              'The same messages a line each, as objects with one member: `{"move": …}`. The last one is the answer, or what ended the stream early, `{"problem": …}`.',
          },
        },
      };
    case "batch":
      return {
        "application/json": {
          schema: {
            type: "array",
            description: "In the order of the requests.",
            items: schemas.inAnswer(output),
          },
          ...recorded,
        },
        [jsonLines]: {
          schema: {
            type: "string",
            description: `Each line is one \`${schemaName(output)}\`, sent as soon as it is ready.`,
          },
        },
      };
  }
}

/** Describes one event, because OpenAPI 3.1 cannot describe a stream. The event `nameOfAnswer` has the complete response. */
function events(method: DescMethod, schemas: Schemas, problem: Json, nameOfAnswer?: string): Json {
  const { choice, answer } = eventsOf(method);
  const messageOf = (field: DescField) => schemas.inAnswer(field.message as DescMessage);
  const event = (names: readonly string[], description: string, schema: Json) => ({
    type: "object",
    description,
    properties: {
      event: { type: "string", enum: names },
      data: { type: "string", contentMediaType: "application/json", contentSchema: schema },
    },
    required: ["event", "data"],
  });
  return {
    schema: {
      description:
        "One of the server-sent events. A comment line every 10 s keeps the connection alive. A problem before the first byte is an ordinary problem response.",
      oneOf: [
        ...choice.fields.map((field) =>
          field === answer
            ? event(
                nameOfAnswer ? [nameOfAnswer] : [field.name, "done"],
                nameOfAnswer ? commentOf(field) : `${commentOf(field)} The last one is repeated as \`done\`.`,
                messageOf(field),
              )
            : event([field.name], commentOf(field), messageOf(field)),
        ),
        event(["error"], "What ended the stream early.", problem),
      ],
    },
  };
}
