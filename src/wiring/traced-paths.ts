import { routesFromServices } from "../protocols/json/routes.ts";
import { mcpPath } from "../request/context.ts";
import { apiServices } from "../services/routes.ts";
import type { TracedPaths } from "../tracing/server-span.ts";

/** The probes, and health and reflection in every version: load balancers send them every second. */
const leftOut = /^\/(healthz|readyz|grpc\.(health|reflection)\.[^/]+\/[^/]+)$/;

const calls: ReadonlySet<string> = new Set([
  mcpPath,
  ...routesFromServices(apiServices).map(({ path }) => path),
  ...apiServices.flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`)),
]);

export const tracedPaths: TracedPaths = {
  isCall: (path) => calls.has(path),
  isLeftOut: (path) => leftOut.test(path),
};
