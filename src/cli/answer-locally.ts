import { create, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { localAccount } from "../access/account.ts";
import { judgeSearchMoves } from "../analysis/judge-request.ts";
import { localCall } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import type { Calls } from "../calls/register.ts";
import { withSuggestion } from "../calls/suggest.ts";
import { judgePosition } from "../chess/judge-position.ts";
import { errorFromJudgement } from "../chess/position-error.ts";
import type { Answering } from "./answering.ts";
import type { CommandInput } from "./command.ts";
import { type Local, openLocal } from "./open-local.ts";
import { readRequest } from "./request-from-input.ts";

type Input = Pick<CommandInput, "values" | "host" | "signal">;

/** By the service in this process, whose engines start when they are needed: not for what no engine would be asked. */
export function answerLocally({ values, host, signal }: Input, stores: boolean): Answering {
  let opening: Promise<Local> | undefined;
  const local = () => {
    opening ??= openLocal(host, signal, { stores, values });
    return opening;
  };
  return {
    transport: transportTo(async () => (await local()).calls),
    check: checkWithoutEngines,
    suggest: (error, sent) =>
      withSuggestion(error, sent, async (plain) => {
        checkWithoutEngines(plain);
        if (opening || "engine" in plain || "path" in plain || "options" in plain) {
          await (await local()).judge.item(readRequest(plain), localAccount);
        }
      }),
    async [Symbol.asyncDispose]() {
      // Whoever waited for them has been told if they did not open.
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** Fields and position, as the service judges them first. @throws KibitzError */
function checkWithoutEngines(sent: Readonly<Record<string, unknown>>): void {
  const request = requestFromMessage(readRequest(sent));
  const { fen, moves, options } = request;
  const judgement = judgePosition({ fen, moves, chess960: options.uci_chess960 === true });
  if (judgement.kind === "faults") {
    throw errorFromJudgement(judgement);
  }
  judgeSearchMoves(request, judgement.position);
}

/** Hands messages over as they are: nothing is written and read again, and errors stay what they are. */
function transportTo(open: () => Promise<Calls>): Transport {
  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const calls = await open();
      const message = await calls.unary(method)(create(method.input, input), localCall(method, signal));
      return { ...responseOf(method), stream: false, message: message as MessageShape<typeof method.output> };
    },
    async stream(method, signal, _timeoutMs, _header, inputs) {
      const calls = await open();
      for await (const input of inputs) {
        const messages = calls.stream(method)(create(method.input, input), localCall(method, signal));
        return {
          ...responseOf(method),
          stream: true,
          message: messages as AsyncIterable<MessageShape<typeof method.output>>,
        };
      }
      throw new TypeError(`${method.name} was asked nothing`);
    },
  };
}

function responseOf<M extends DescMethod>(method: M) {
  return { service: method.parent, method, header: new Headers(), trailer: new Headers() };
}
