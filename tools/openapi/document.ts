import type { DescService } from "@bufbuild/protobuf";
import { routesFromServices } from "../../src/protocols/json/routes.ts";
import { commentOf } from "./comment.ts";
import { createExamples, type Example } from "./examples.ts";
import { headers } from "./headers.ts";
import type { Json } from "./json.ts";
import { operationOf, tagOf } from "./operation.ts";
import { overview } from "./overview.ts";
import { createResponseComponents } from "./response-components.ts";
import { schemaOfProblem } from "./schema-of-problem.ts";
import { createSchemas } from "./schemas.ts";

interface DocumentOptions {
  /** These descriptors must come from `buf generate`. Descriptors in generated code contain no comments. */
  readonly services: readonly DescService[];
  readonly version: string;
  readonly examples: readonly Example[];
}

export function documentOf({ services, version, examples: recorded }: DocumentOptions): Json {
  const schemas = createSchemas();
  const examples = createExamples(recorded);
  const responses = createResponseComponents();
  const routes = routesFromServices(services);
  const problem = schemas.inAnswer(problemMessageOf(services));
  const paths: Record<string, Record<string, Json>> = {};
  // A call with several paths is listed once, because clients need one function for one call.
  for (const route of routes.filter((each) => each === routes.find(({ method }) => method === each.method))) {
    paths[route.path] = {
      ...paths[route.path],
      [route.verb.toLowerCase()]: operationOf(route, { routes, schemas, problem, examples, responses }),
    };
  }
  const allSchemas = schemas.all();
  return {
    openapi: "3.1.1",
    info: {
      title: "Kibitz",
      summary: "Chess position analysis",
      version,
      description: overview,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    // The origin from which a client has loaded the document.
    servers: [{ url: "/", description: "The server that this document comes from" }],
    security: [{}, { apiKey: [] }],
    tags: services
      .filter((service) => routes.some(({ method }) => method.parent === service))
      .map((service) => ({ name: tagOf(service), description: commentOf(service) })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "kbz_…",
          description:
            "An API key, from `POST /v1/keys` or from the operator. Without one, callers are identified by address; if the operator requires keys, analyses without one are refused with 401. An invalid key is refused on every call, never treated as no key.",
        },
      },
      headers,
      responses: responses.all(),
      schemas: {
        ...allSchemas,
        Problem: schemaOfProblem(allSchemas.Problem as Json),
      },
      examples: examples.all(),
    },
  };
}

function problemMessageOf(services: readonly DescService[]) {
  for (const { file } of services) {
    const found = [file, ...file.dependencies]
      .flatMap(({ messages }) => messages)
      .find(({ name }) => name === "Problem");
    if (found) {
      return found;
    }
  }
  throw new Error("no proto says what a Problem is");
}
