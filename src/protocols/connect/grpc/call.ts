import type { Http2ServerResponse } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import {
  headerAcceptEncoding,
  headerEncoding,
  headerTimeout,
  parseTimeout,
} from "@connectrpc/connect/protocol-grpc";
import type { Account } from "../../../access/account.ts";
import type { CallContext } from "../../../calls/invoke.ts";
import { isGone, type NodeRequest, onLeave } from "../../../http/message.ts";
import { contextOf, outcomeOf, type RequestContext, type RequestOutcome } from "../../../request/context.ts";
import { answerCompressions } from "../compressions.ts";
import { dropLongTimeout } from "../repairs.ts";

/** What the headers of a call say of it. */
export interface CallTerms {
  /** When its time is over, by `performance.now()`; never if unset. */
  readonly deadline: number | undefined;
  /** What its messages are packed in where that is worth it. */
  readonly packing: Compression | undefined;
}

const types: ReadonlySet<string | undefined> = new Set(["application/grpc", "application/grpc+proto"]);
const encodings: ReadonlySet<string | undefined> = new Set([undefined, "identity"]);

/** The terms of an ordinary call of gRPC: in binary, not packed, over HTTP/2. Undefined for any other request. */
export function termsOf(req: NodeRequest): CallTerms | undefined {
  const { method, headers, httpVersionMajor } = req;
  const isOrdinary =
    method === "POST" &&
    httpVersionMajor === 2 &&
    types.has(headers["content-type"]) &&
    encodings.has(headers[headerEncoding.toLowerCase()]?.toString());
  if (!isOrdinary) {
    return undefined;
  }
  dropLongTimeout(req);
  const { timeoutMs, error } = parseTimeout(textOf(req, headerTimeout), Number.MAX_SAFE_INTEGER);
  if (error) {
    return undefined;
  }
  const accepted = textOf(req, headerAcceptEncoding);
  const { response } = compressionNegotiate([...answerCompressions], null, accepted, headerAcceptEncoding);
  return {
    deadline: timeoutMs === undefined ? undefined : performance.now() + timeoutMs,
    packing: response ?? undefined,
  };
}

function textOf({ headers }: NodeRequest, name: string): string | null {
  return headers[name.toLowerCase()]?.toString() ?? null;
}

/** The context of a call. Makes the signal when it is first asked for: an answer from the cache may never ask. */
export class GrpcContext implements CallContext {
  readonly request: RequestContext;
  readonly outcome: RequestOutcome;
  readonly account: Account;
  readonly #res: Http2ServerResponse;
  readonly #deadline: number | undefined;
  #signal: AbortSignal | undefined;

  constructor(req: NodeRequest, res: Http2ServerResponse, account: Account, { deadline }: CallTerms) {
    this.request = contextOf(req);
    this.outcome = outcomeOf(req);
    this.account = account;
    this.#res = res;
    this.#deadline = deadline;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#res, this.#deadline);
    return this.#signal;
  }
}

function signalOf(res: Http2ServerResponse, deadline: number | undefined): AbortSignal {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new Error("the caller left")));
  if (deadline !== undefined && !isGone(res)) {
    const expire = () => controller.abort(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) {
      expire();
    } else {
      const timer = setTimeout(expire, leftMs);
      res.once("close", () => clearTimeout(timer));
    }
  }
  return controller.signal;
}
