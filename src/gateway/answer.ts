import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Entry } from "../access/entrance.ts";
import type { Caller } from "../caller.ts";
import type { NodeRequest, NodeResponse } from "../server/node-message.ts";
import type { CallContext } from "./call-context.ts";
import type { RequestReaderOptions } from "./read-request.ts";

/** Answers the requests of one route. What it rejects with is the problem that the caller is told of. */
export type Answer = (req: NodeRequest, res: NodeResponse, caller: Caller, entry: Entry) => Promise<void>;

/**
 * Lets calls of a method in, or what is no call, before anything of their bodies is read. At once where that can be
 * said. @throws KibitzError
 */
export type Enter = (caller: Caller, method: DescMethod | undefined) => Entry | Promise<Entry>;

/** A method of the service behind its interceptors. */
export type UnaryCall = (request: Message, context: CallContext) => Promise<Message>;

/** A method that answers with many messages. It is called off by the signal, and when its reader leaves. */
export type StreamCall = (request: Message, context: CallContext) => AsyncIterable<Message>;

export interface UnaryAnswerOptions extends RequestReaderOptions {
  readonly callOf: (method: DescMethod) => UnaryCall;
}

export interface StreamAnswerOptions extends RequestReaderOptions {
  readonly streamOf: (method: DescMethod) => StreamCall;
  /** How often a stream of events says that it still lives, in milliseconds. */
  readonly keepAliveMs?: number;
}
