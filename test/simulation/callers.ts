import { create, type DescMethod, type JsonObject, type Message } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Clock, Process } from "./clock.ts";
import { ConnectionLost, type SimulatedNode } from "./node.ts";
import { type CallerPlan, type CallPlan, type SearchPlan, startFen } from "./scenario.ts";

/** What a client has seen of a call. */
export interface Call {
  readonly id: string;
  readonly caller: CallerPlan;
  readonly plan: CallPlan;
  readonly node: number;
  readonly beganAt: number;
  readonly answers: readonly Message[];
  /** The milliseconds in which the node waited for the client to read. */
  readonly unreadMs: number;
  /** When the client disconnected, or its deadline passed. */
  readonly abortedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** `ok`, `canceled`, the code of an error, or `lost` if the node was killed. Undefined while the call runs. */
  readonly code: string | undefined;
}

interface CallersOptions {
  readonly clock: Clock;
  /** The process of all clients. */
  readonly clients: Process;
  /** Undefined while the node is down. */
  nodeOf(number: number): SimulatedNode | undefined;
  authorizationOf(node: number, key: number | undefined): string | undefined;
  began(call: Call): void;
  ended(call: Call): void;
  aborts(call: Call, kind: Abort, node: SimulatedNode): void;
}

type Abort = "client leaves" | "client is late";

/** Resolves when all calls of the caller have ended. */
export async function runCaller(caller: CallerPlan, options: CallersOptions): Promise<void> {
  await pause(options, caller.beginMs);
  const running: Promise<Call>[] = [];
  for (const [index, plan] of caller.calls.entries()) {
    await pause(options, plan.afterMs);
    const node = options.nodeOf(caller.node);
    if (node === undefined) {
      continue;
    }
    const id = `${caller.name}:call${index + 1}`.replaceAll(" ", "");
    const call = runCall(caller, plan, id, node, options);
    if (caller.together) {
      running.push(call);
    } else {
      await call;
    }
  }
  await Promise.all(running);
}

/** The timer belongs to the client, although a node may wait for it. */
function pause({ clock, clients }: Pick<CallersOptions, "clock" | "clients">, ms: number): Promise<void> {
  return new Promise((resolve) => void clients.run(() => clock.at(clock.now() + ms, resolve)));
}

/** Resolves when the call has ended. */
export async function runCall(
  caller: CallerPlan,
  plan: CallPlan,
  id: string,
  node: SimulatedNode,
  options: Omit<CallersOptions, "nodeOf">,
): Promise<Call> {
  const { clock, authorizationOf, began, ended, aborts } = options;
  const answers: Message[] = [];
  const call = {
    id,
    caller,
    plan,
    node: caller.node,
    beganAt: clock.now(),
    answers,
    unreadMs: 0,
    abortedAt: undefined as number | undefined,
    endedAt: undefined as number | undefined,
    code: undefined as string | undefined,
  };
  began(call);
  const { method, message } = messageOf(plan);
  const served = node.serve({
    id,
    address: caller.address,
    authorization: authorizationOf(caller.node, caller.key),
    method,
    message,
    async deliver(answer) {
      answers.push(answer);
      if (plan.readsEveryMs !== undefined) {
        await pause(options, plan.readsEveryMs);
        call.unreadMs += plan.readsEveryMs;
      }
    },
  });
  const abort = (ms: number | undefined, kind: Abort, how: () => void) =>
    ms === undefined
      ? undefined
      : clock.at(clock.now() + ms, () => {
          call.abortedAt ??= clock.now();
          aborts(call, kind, node);
          how();
        });
  const leaving = abort(plan.leavesAfterMs, "client leaves", served.leave);
  const late = abort(plan.deadlineMs, "client is late", served.beLate);
  try {
    call.code = (await served.ended).code;
  } catch (error) {
    if (!(error instanceof ConnectionLost)) {
      throw error;
    }
    call.code = "lost";
  } finally {
    leaving?.cancel();
    late?.cancel();
  }
  call.endedAt = clock.now();
  ended(call);
  return call;
}

function messageOf(plan: CallPlan): { readonly method: DescMethod; readonly message: Message } {
  const { evaluateBatch } = AnalysisService.method;
  const { reviewGame } = GameService.method;
  switch (plan.kind) {
    case "evaluateBatch": {
      const requests = plan.searches.map(requestOf);
      return { method: evaluateBatch, message: create(evaluateBatch.input, { requests }) };
    }
    case "reviewGame": {
      const { moves, depth, lines } = plan.game;
      const message = create(reviewGame.input, { fen: startFen, moves: [...moves], depth, lines });
      return { method: reviewGame, message };
    }
    default: {
      const method = AnalysisService.method[plan.kind];
      return { method, message: create(method.input, requestOf(plan.search)) };
    }
  }
}

function requestOf({ moves, nodes, searchMoves, options, ...limits }: SearchPlan) {
  return {
    ...limits,
    moves: [...moves],
    ...(nodes !== undefined && { nodes: BigInt(nodes) }),
    ...(searchMoves && { searchMoves: [...searchMoves] }),
    ...(options && { options: options as JsonObject }),
  };
}
