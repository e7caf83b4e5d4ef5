import { once } from "node:events";
import { createClient } from "@connectrpc/connect";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import manifest from "../../package.json" with { type: "json" };
import { profileOf } from "../engine/profiles.ts";
import { ask } from "./ask.ts";
import type { CommandInput } from "./command.ts";
import { engineOptionsOf } from "./engine-option.ts";
import { readRequestOfMany } from "./request-from-input.ts";
import { chooseEngine } from "./uci/choose-engine.ts";
import type { LineBuffer } from "./uci/line-buffer.ts";
import { createSession } from "./uci/session.ts";

/** The defaults of the UCI option `Move Overhead` in milliseconds, without and with `--url`. */
const localOverheadMs = 30;
const remoteOverheadMs = 150;

interface ConversationSetting {
  readonly input: CommandInput;
  readonly lines: LineBuffer;
  readonly say: (line: string) => void;
  readonly onGreeting: (greeting: readonly string[]) => Promise<void>;
}

/** Serves a chess program. This function is in a separate file, because `uci.ts` must load quickly. */
export async function converse({ input, lines, say, onGreeting }: ConversationSetting): Promise<void> {
  const { signal } = input;
  const template = readRequestOfMany(input);
  // Use one slot: with a second slot, the next search would start another engine while the previous search stops.
  await using service = await ask(input, { tablesMaxWaitMs: 200, settings: { KIBITZ_SLOTS: "1" } });
  const { listEngines, streamEvaluate } = createClient(AnalysisService, service.transport);
  const { engines } = await listEngines({}, { signal });
  const engine = chooseEngine(engines, template);
  const session = createSession({
    engine: {
      name: service.host === undefined ? engine.name : `${engine.name} at ${service.host}`,
      author: engine.author,
      options: engineOptionsOf(engine),
      hasDepth: profileOf(engine.family).hasDepth,
    },
    watch: (request, signal) => streamEvaluate({ ...template, ...request }, { signal }),
    say,
    version: manifest.version,
    overheadMs: service.host === undefined ? localOverheadMs : remoteOverheadMs,
  });
  lines.passTo(session);
  await onGreeting(session.greeting);
  await Promise.race([session.over, once(signal, "abort")]);
  session.receive("quit");
}
