import { createClient } from "@connectrpc/connect";
import type { AnalysisRequest, Engine } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import type { Remote } from "../open-remote.ts";
import type { Analyst, Introduction, OptionOfEngine } from "./analyst.ts";
import { watchByStream } from "./analyst-of-stream.ts";

/** How long a chess program is let wait for the service's engines, in milliseconds: some give up after ten seconds. */
const introductionMaxMs = 7000;

/**
 * A running service.
 *
 * @param host as it is shown
 * @param template of every request: which engine is asked. Where that is not there, or the service wants another key,
 * nothing can ever be answered.
 */
export function createRemoteAnalyst(
  { transport }: Pick<Remote, "transport">,
  host: string,
  template: AnalysisRequest,
): Analyst {
  const { listEngines, streamEvaluate } = createClient(AnalysisService, transport);
  return {
    async introduce() {
      try {
        const { engines, latest } = await listEngines({}, { signal: AbortSignal.timeout(introductionMaxMs) });
        return introductionOf(engines, template.engine ?? "latest", latest, host);
      } catch (error) {
        if (error instanceof KibitzError && !error.retryable) {
          throw error;
        }
        const why = error instanceof Error ? error.message : String(error);
        const complaint = `${why}. What its engine can be told is not known before the next start; the rest works as soon as ${host} answers`;
        return { name: host, author: "whoever made its engine", options: [], complaint };
      }
    },
    watch: watchByStream((request, signal) => streamEvaluate(request, { signal }), template),
  };
}

function introductionOf(
  engines: readonly Engine[],
  asked: string,
  latest: string,
  host: string,
): Introduction {
  const engine = engines.find(({ id }) => id === (asked === "latest" ? latest : asked));
  if (engine === undefined) {
    const ids = engines.map(({ id }) => id).join(", ");
    throw new KibitzError(
      "unknown_engine",
      `${host} has no engine "${echo(asked)}": its engines are ${ids}.`,
    );
  }
  return { name: `${engine.name} at ${host}`, author: engine.author, options: optionsOf(engine) };
}

/** What the schema says of them; whatever a newer service says in another way is left out. */
function optionsOf({ optionsSchema }: Engine): readonly OptionOfEngine[] {
  const properties = objectOf(optionsSchema?.properties);
  return Object.entries(properties).flatMap(([name, property]): readonly OptionOfEngine[] => {
    const { "x-uci-name": engineName, type, default: usual, minimum, maximum } = objectOf(property);
    if (typeof engineName !== "string") {
      return [];
    }
    if (type === "boolean" && typeof usual === "boolean") {
      return [{ name, engineName, kind: "boolean", default: usual }];
    }
    const isRange = typeof usual === "number" && typeof minimum === "number" && typeof maximum === "number";
    return isRange ? [{ name, engineName, kind: "integer", default: usual, minimum, maximum }] : [];
  });
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null ? { ...json } : {};
}
