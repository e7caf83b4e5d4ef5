import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";
import { type ClientOptions, ErrorReply, type RedisClient } from "./redis-client.ts";
import { Rejection, type Reply } from "./redis-data.ts";
import { createRedisExecutor } from "./redis-executor.ts";
import type { RedisFault, RedisFaultKind } from "./redis-faults.ts";

/** What happens to Redis, for the trace and the counts of the simulation. */
interface RedisWatch {
  trace(text: () => string): void;
  /** Called each time a fault changes what happens to a connection or a command. */
  count(kind: RedisFaultKind): void;
  /** Called with the state in which the fault finds the nodes. */
  countPair?(kind: RedisFaultKind, state: string): void;
}

interface SimulatedRedisOptions {
  readonly clock: Pick<Clock, "now" | "at">;
  readonly random: Random;
  /** Redis's clock at the start of the simulation, in milliseconds since 1970. */
  readonly startsAt: number;
  readonly faults: readonly RedisFault[];
  readonly watch: RedisWatch;
}

/** One server for all nodes. Node `n` connects to the URL `redis://node-n`. */
interface SimulatedRedis {
  /** Call this in the process of the node. */
  createClient(options: ClientOptions): RedisClient;
  /** Executes a command at once, without a network and without faults. For invariants. */
  look(...command: readonly string[]): Reply;
  /** True while the node waits for the reply to a command. */
  isAsked(node: number): boolean;
}

/** One direction of a connection takes at least the first of these times, and less than their sum. In milliseconds. */
const wayMs = { least: 0.05, spread: 0.4 };

type FaultOf<Kind extends RedisFaultKind> = Extract<RedisFault, { readonly kind: Kind }>;

interface Connection {
  readonly node: number;
  readonly random: Random;
  /** Calls its argument in the process of the node, so that a killed or paused node notices nothing. */
  readonly inNode: <T>(work: () => T) => T;
  /** Called when the client notices that the connection is broken. */
  readonly onBreak: (error: Error) => void;
  /** Redis or the network has ended the connection. */
  isBroken: boolean;
  /** Nothing passes any more, but neither side notices. */
  isSilent: boolean;
  /** The times of the last events. Nothing overtakes within a connection. */
  arrivesAt: number;
  executesAt: number;
  answersAt: number;
}

type Answer = (reply: Reply | Error) => void;

interface Look<Kind extends RedisFaultKind> {
  readonly isMeant?: (fault: FaultOf<Kind>) => boolean;
  /** The command that the fault would change. */
  readonly command?: readonly string[];
}

export function createSimulatedRedis(options: SimulatedRedisOptions): SimulatedRedis {
  const { clock, random, startsAt, faults, watch } = options;
  const executor = createRedisExecutor(
    () =>
      startsAt +
      clock.now() +
      faults
        .filter((fault) => fault.kind === "redis has another time" && isActive(fault))
        .reduce((sum, fault) => sum + ("byMs" in fault ? fault.byMs : 0), 0),
  );
  /** The events of the server belong to no node. */
  const inServer = AsyncLocalStorage.snapshot();
  const connections = new Set<Connection>();
  const connected = new Map<number, number>();
  /** The client of the last process of each node. */
  const clients = new Map<number, Client>();
  const losses = new Map<RedisFault, number>();

  const isActive = (fault: RedisFault) => fault.atMs <= clock.now() && clock.now() < fault.atMs + fault.forMs;
  const concerns = (fault: RedisFault, node: number) => fault.node === undefined || fault.node === node;

  function active<Kind extends RedisFaultKind>(
    node: number,
    kind: Kind,
    { isMeant = () => true, command }: Look<Kind> = {},
  ): FaultOf<Kind> | undefined {
    const found = faults.find(
      (fault) =>
        fault.kind === kind && isActive(fault) && concerns(fault, node) && isMeant(fault as FaultOf<Kind>),
    );
    if (found !== undefined) {
      watch.count(kind);
      const state = command && stateOf(command);
      if (state) {
        watch.countPair?.(kind, state);
      }
    }
    return found as FaultOf<Kind> | undefined;
  }

  const isGone = (node: number) =>
    active(node, "redis is gone") !== undefined || active(node, "redis restarts") !== undefined;
  const way = (drawn: Random) => wayMs.least + drawn.next() * wayMs.spread;

  function breakConnection(connection: Connection, message: string, code?: string): void {
    connection.isBroken = true;
    connections.delete(connection);
    const error = Object.assign(new Error(message), code === undefined ? {} : { code });
    connection.inNode(() => clock.at(clock.now() + way(connection.random), () => connection.onBreak(error)));
  }

  function breakAll(fault: RedisFault): void {
    for (const connection of [...connections]) {
      if (concerns(fault, connection.node)) {
        watch.count(fault.kind);
        breakConnection(connection, "read ECONNRESET", "ECONNRESET");
      }
    }
  }

  for (const fault of faults) {
    clock.at(fault.atMs, () => {
      const where = fault.node === undefined ? "" : `node ${fault.node}: `;
      watch.trace(() => `${where}${textOf(fault)} for ${fault.forMs} ms`);
      for (const state of statesOf(executor.execute(["KEYS", "*"]) as readonly string[])) {
        watch.countPair?.(fault.kind, state);
      }
      if (fault.kind === "redis is gone" || fault.kind === "redis restarts") {
        breakAll(fault);
      }
      if (fault.kind === "redis restarts") {
        executor.restart(fault.keepsData);
      }
    });
  }

  function takeLoss({ node }: Connection, command: readonly string[]) {
    const loss =
      command[0] === "HELLO"
        ? undefined
        : active(node, "redis loses a connection", {
            isMeant: (fault) => (losses.get(fault) ?? 0) < fault.times,
            command,
          });
    if (loss) {
      losses.set(loss, (losses.get(loss) ?? 0) + 1);
    }
    return loss;
  }

  function send(connection: Connection, command: readonly string[], answer: Answer): void {
    connection.isSilent ||= active(connection.node, "redis is cut off") !== undefined;
    connection.arrivesAt = Math.max(connection.arrivesAt, clock.now() + way(connection.random));
    if (!connection.isSilent) {
      inServer(() => clock.at(connection.arrivesAt, () => arrive(connection, command, answer)));
    }
  }

  function arrive(connection: Connection, command: readonly string[], answer: Answer): void {
    const pause = active(connection.node, "redis is paused", { command });
    if (pause) {
      clock.at(pause.atMs + pause.forMs, () => arrive(connection, command, answer));
      return;
    }
    const slowness = active(connection.node, "redis is slow", { command });
    connection.executesAt = Math.max(connection.executesAt, clock.now() + (slowness?.byMs ?? 0));
    clock.at(connection.executesAt, () => execute(connection, command, answer));
  }

  function execute(connection: Connection, command: readonly string[], answer: Answer): void {
    if (connection.isBroken) {
      return;
    }
    const loss = takeLoss(connection, command);
    const reply = loss?.isExecuted === false ? undefined : replyTo(connection, command);
    if (loss || reply === undefined) {
      const when = loss?.isExecuted ? "after" : "before";
      watch.trace(
        () => `node ${connection.node}: the connection breaks ${when} Redis executes ${command[0]}`,
      );
      breakConnection(connection, "Socket closed unexpectedly");
      return;
    }
    const lateMs = active(connection.node, "redis answers late", { command })?.byMs ?? 0;
    connection.answersAt = Math.max(connection.answersAt, clock.now() + way(connection.random) + lateMs);
    const receive = () => {
      if (!connection.isBroken) {
        answer(reply);
      }
    };
    // A reply that is still on its way is no timer of the node.
    clock.at(connection.answersAt, () => {
      connection.isSilent ||= active(connection.node, "redis is cut off") !== undefined;
      if (connections.has(connection) && !connection.isSilent) {
        connection.inNode(() => clock.at(clock.now(), receive));
      }
    });
  }

  function replyTo({ node }: Connection, command: readonly string[]): Reply | Error {
    if (command[0] === "HELLO") {
      return "OK";
    }
    // Counts the commands that Redis executes at another time.
    active(node, "redis has another time", { command });
    try {
      return executor.execute(command, active(node, "redis refuses commands", { command })?.because);
    } catch (error) {
      if (error instanceof Rejection) {
        return new ErrorReply(error.message);
      }
      throw error;
    }
  }

  return {
    look: (...command) => executor.execute(command),
    isAsked: (node) => clients.get(node)?.isAsking === true,
    createClient(clientOptions) {
      const node = Number(/^redis:\/\/node-(\d+)$/.exec(clientOptions.url)?.[1] ?? Number.NaN);
      if (Number.isNaN(node)) {
        throw new Error(`${clientOptions.url} is not the URL of a simulated node`);
      }
      const inNode = AsyncLocalStorage.snapshot();
      const client = new Client(clientOptions, {
        later: (ms, run) => void inNode(() => clock.at(clock.now() + ms, run)),
        connect(onOpen, onBreak) {
          const count = (connected.get(node) ?? 0) + 1;
          connected.set(node, count);
          const drawn = random.fork(`node ${node} connection ${count}`);
          const { connectTimeout } = clientOptions.socket;
          const isCutOff = active(node, "redis is cut off") !== undefined;
          const ms = isCutOff ? connectTimeout : way(drawn) + way(drawn);
          inNode(() =>
            clock.at(clock.now() + ms, () => {
              if (isCutOff) {
                onBreak(new Error("Connection timeout"));
              } else if (isGone(node)) {
                onBreak(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
              } else {
                const connection: Connection = {
                  ...{ node, random: drawn, inNode, onBreak, isBroken: false, isSilent: false },
                  ...{ arrivesAt: 0, executesAt: 0, answersAt: 0 },
                };
                connections.add(connection);
                onOpen({
                  send: (command, answer) => send(connection, command, answer),
                  close: () => void connections.delete(connection),
                });
              }
            }),
          );
        },
      });
      clients.set(node, client);
      return client;
    },
  };
}

/** What a node is doing when it sends the command. Undefined for commands that concern no request. */
function stateOf([name = "", first = "", , ...rest]: readonly string[]): string | undefined {
  const isScript = name === "EVAL" || name === "EVALSHA";
  const [key = "", second = ""] = isScript ? rest : [first];
  if (key.includes("places:")) {
    return second.includes("turns:") ? "a request enters" : "a request leaves";
  }
  if (key.includes("claim:")) {
    return name === "GET" ? "a claim is read" : isScript ? "a claim is renewed" : "a search is claimed";
  }
  return name === "SET" && key.includes("found:") ? "an answer is published" : undefined;
}

/** What Redis knows when a fault begins: the states of its keys. */
export function statesOf(keys: readonly string[]): readonly string[] {
  const states = { "claim:": "a claim is held", "places:": "a place is held", "window:": "a window is open" };
  return Object.entries(states).flatMap(([part, state]) =>
    keys.some((key) => key.includes(part)) ? [state] : [],
  );
}

function textOf(fault: RedisFault): string {
  const text = fault.kind.replace("redis", "Redis");
  const details = Object.entries(fault).filter(([name]) => !["kind", "node", "atMs", "forMs"].includes(name));
  return details.length === 0
    ? text
    : `${text} (${details.map(([name, value]) => `${name} ${value}`).join(", ")})`;
}

interface Wire {
  send(command: readonly string[], answer: Answer): void;
  close(): void;
}

interface Network {
  later(ms: number, run: () => void): void;
  /** Calls one of its arguments later. Also calls `onBreak` if the connection breaks after it was opened. */
  connect(onOpen: (wire: Wire) => void, onBreak: (error: Error) => void): void;
}

interface Sent {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Connects again and again, and emits events in the order of the client of `@redis/client`. */
class Client
  extends EventEmitter<{ connect: []; ready: []; reconnecting: []; end: []; error: [error: Error] }>
  implements RedisClient
{
  readonly #options: ClientOptions;
  readonly #network: Network;
  #isOpen = false;
  #wire: Wire | undefined;
  isReady = false;
  readonly #sent = new Set<Sent>();

  constructor(options: ClientOptions, network: Network) {
    super();
    this.#options = options;
    this.#network = network;
  }

  get isAsking(): boolean {
    return this.#sent.size > 0;
  }

  async connect(): Promise<void> {
    this.#isOpen = true;
    this.#attempt(0);
  }

  destroy(): void {
    this.#reject(new Error("Disconnects client"));
    if (this.#isOpen) {
      this.#isOpen = false;
      this.isReady = false;
      this.#wire?.close();
      this.#wire = undefined;
      this.emit("end");
    }
  }

  sendCommand(command: readonly string[]): Promise<unknown> {
    const wire = this.#wire;
    if (!this.#isOpen || !this.isReady || wire === undefined) {
      return Promise.reject(new Error(this.#isOpen ? "The client is offline" : "The client is closed"));
    }
    return new Promise((resolve, reject) => {
      const sent = { resolve, reject };
      this.#sent.add(sent);
      wire.send(command, (reply) => {
        if (!this.#sent.delete(sent)) {
          return;
        }
        if (reply instanceof Error) {
          reject(reply);
        } else {
          resolve(asRead(command, reply));
        }
      });
    });
  }

  #attempt(retries: number): void {
    let own: Wire | undefined;
    this.#network.connect(
      (wire) => {
        if (!this.#isOpen) {
          wire.close();
          return;
        }
        own = wire;
        this.#wire = wire;
        this.emit("connect");
        wire.send(["HELLO"], () => {
          if (this.#wire === wire) {
            this.isReady = true;
            this.emit("ready");
          }
        });
      },
      (error) => {
        if (this.#isOpen && this.#wire === own) {
          this.#lose(error, retries);
        }
      },
    );
  }

  #lose(error: Error, retries: number): void {
    const wasReady = this.isReady;
    this.isReady = false;
    this.#wire = undefined;
    const retryInMs = this.#options.socket.reconnectStrategy(wasReady ? 0 : retries, error);
    this.emit("error", error);
    this.#reject(error);
    const again = () => {
      if (this.#isOpen) {
        this.emit("reconnecting");
        this.#attempt(wasReady ? 1 : retries + 1);
      }
    };
    if (wasReady) {
      again();
    } else {
      this.#network.later(retryInMs, again);
    }
  }

  #reject(error: Error): void {
    const sent = [...this.#sent];
    this.#sent.clear();
    for (const { reject } of sent) {
      reject(error);
    }
  }
}

/** Returns a reply as the client decodes it: Redis answers with a map or with a number to some commands, but not to scripts. */
function asRead([command]: readonly string[], reply: Reply): unknown {
  if (command === "HGETALL" && Array.isArray(reply)) {
    const pairs = reply.flatMap((name, index) => (index % 2 === 0 ? [[name, reply[index + 1]]] : []));
    return Object.fromEntries(pairs);
  }
  return command === "ZSCORE" && reply !== null ? Number(reply) : reply;
}
