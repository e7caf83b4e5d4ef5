import { create, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { createLocalAccess } from "../access/access.ts";
import { chess960Of, validateSearchMoves } from "../analysis/validate-request.ts";
import { fromThisProcess, localCall } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { withSuggestion } from "../calls/suggest.ts";
import { errorFromPositionViolations } from "../chess/position-error.ts";
import { validatePosition } from "../chess/validate-position.ts";
import { KibitzError } from "../errors/errors.ts";
import { createLog } from "../log/create-log.ts";
import type { Log } from "../log/log.ts";
import { loadConfig } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import { createService, type Service } from "../wiring/service.ts";
import { hasStore, openStore } from "../wiring/store.ts";
import { openTables } from "../wiring/tablebase.ts";
import { cacheFolderOf } from "./cache-folder.ts";
import type { CommandInput } from "./command.ts";
import { readRequest } from "./request-from-input.ts";
import type { Target, TargetOptions } from "./target.ts";

type Input = Pick<CommandInput, "values" | "host" | "signal">;

/** Runs the service in this process. Engines start only when a call needs an engine. */
export function askHere(input: Input, options: TargetOptions): Target {
  const left = new AbortController();
  let opening: Promise<Service & AsyncDisposable> | undefined;
  const service = () => {
    opening ??= open(input, options, AbortSignal.any([input.signal, left.signal])).catch((error) => {
      // Allow the next call to open the service again.
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    transport: transportTo(service),
    host: undefined,
    async read(sent) {
      try {
        return readWithoutEngines(sent);
      } catch (thrown) {
        throw thrown instanceof KibitzError
          ? await withSuggestion(thrown, sent, async (candidate) => readWithoutEngines(candidate))
          : thrown;
      }
    },
    validate: async (message, method) =>
      (await service()).validate.message(message, method, fromThisProcess()),
    async [Symbol.asyncDispose]() {
      left.abort(new Error("the command has ended"));
      // Ignore the error, which the call that opened the engines has already reported.
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** A command runs anew for each answer, so each command has to verify the tables. The largest table takes some seconds. */
const firstLookUpMaxMs = 10_000;

/** Logs errors of the answer store only at the level `info`, because the command also works without stored answers. */
async function open(
  { host, values: { engine, path } }: Input,
  { stores = false, tablesMaxWaitMs = firstLookUpMaxMs, settings }: TargetOptions,
  signal: AbortSignal,
): Promise<Service & AsyncDisposable> {
  const logLevel = host.env.KIBITZ_LOG_LEVEL || "warn";
  const config = loadConfig({ ...host.env, KIBITZ_LOG_LEVEL: logLevel, ...settings });
  const log = await createLog(config.logLevel, host.stderr, host);
  const info: Log["info"] = (fields, message) => log.info(fields, message);
  await using opened = new AsyncDisposableStack();
  const wanted = {
    engine: typeof engine === "string" ? engine : "latest",
    path: path === "native" || path === "wasm" ? path : "auto",
  } as const;
  const tables = openTables(config, log, opened);
  const engines = opened.use(await openEngines(config, log, signal, { asked: wanted }));
  const dataDir = host.env.KIBITZ_DATA_DIR ? config.dataDir : cacheFolderOf(host);
  const answers = { storeMb: config.storeMb, dataDir };
  const store = stores || hasStore(answers) ? openStore(answers, { info, warn: info }) : undefined;
  opened.use(store);
  const service = createService(engines, await createLocalAccess(), config, log, {
    store,
    tablebase: await tables,
    tablesMaxWaitMs,
  });
  const kept = opened.move();
  return { ...service, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Validates a request without an engine, so that an invalid request starts no engine. Throws KibitzError. */
function readWithoutEngines(sent: Readonly<Record<string, unknown>>): AnalysisRequest {
  const message = readRequest(sent);
  const request = requestFromMessage(message);
  const { fen, moves, options } = request;
  const validation = validatePosition({ fen, moves, chess960: chess960Of(options) });
  if (validation.kind === "violations") {
    throw errorFromPositionViolations(validation);
  }
  validateSearchMoves(request, validation.position);
  return message;
}

/** Calls the handlers directly, without encoding the messages. The caller receives the original KibitzError. */
function transportTo(open: () => Promise<Service>): Transport {
  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const { calls } = await open();
      const message = await calls.unary(method)(create(method.input, input), localCall(method, signal));
      return { ...responseOf(method), stream: false, message: message as MessageShape<typeof method.output> };
    },
    async stream(method, signal, _timeoutMs, _header, inputs) {
      const { calls } = await open();
      for await (const input of inputs) {
        const messages = calls.stream(method)(create(method.input, input), localCall(method, signal));
        return {
          ...responseOf(method),
          stream: true,
          message: messages as AsyncIterable<MessageShape<typeof method.output>>,
        };
      }
      throw new TypeError(`${method.name} was called without a request`);
    },
  };
}

function responseOf<M extends DescMethod>(method: M) {
  return { service: method.parent, method, header: new Headers(), trailer: new Headers() };
}
