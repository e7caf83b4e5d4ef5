import {
  type EngineBackend,
  type EngineBuild,
  EngineFailure,
  type EngineSession,
  type SearchEvent,
} from "../../../src/engine/engine.ts";

/** What an engine said to a position, by its FEN. */
export type Recording = Readonly<Record<string, readonly SearchEvent[]>>;

/**
 * An engine that plays back what another one said: a third way to run engines, which speaks no UCI and
 * needs nothing but the port.
 */
export function createRecordedBackend(recording: Recording, told: Partial<EngineBuild> = {}): EngineBackend {
  const build: EngineBuild = {
    id: "recorded-1",
    name: "Recorded 1",
    path: "native",
    family: "recorded",
    version: "1",
    net: "full",
    license: undefined,
    deprecatedSince: undefined,
    settings: { hashMb: 16, threads: 1 },
    reproducible: true,
    selfTestNodes: undefined,
    author: "nobody",
    options: [],
    file: "recording",
    sha256: "0".repeat(64),
    assertUnchanged: async () => {},
    assertGenuine: async () => {},
    ...told,
  };
  return {
    path: build.path,
    discover: async () => [build],
    start: async () => createSession(build, recording),
  };
}

function createSession(build: EngineBuild, recording: Recording): EngineSession {
  const exit = Promise.withResolvers<EngineFailure | undefined>();
  let alive = true;
  return {
    build,
    info: { name: build.name, author: "a recording", options: [] },
    get state() {
      return alive ? "idle" : "ended";
    },
    get alive() {
      return alive;
    },
    memoryBytes: () => undefined,
    cutShort() {},
    exited: exit.promise,
    async search({ position }, signal, onProgress = () => {}) {
      for (const event of recording[position.fen] ?? []) {
        signal.throwIfAborted();
        if (event.kind === "done") {
          return event;
        }
        onProgress(event);
      }
      throw new EngineFailure("protocol_error", `nothing is recorded for ${position.fen}`);
    },
    async [Symbol.asyncDispose]() {
      alive = false;
      exit.resolve(undefined);
    },
  };
}
