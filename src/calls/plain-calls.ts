import type { DescMethod } from "@bufbuild/protobuf";
import type { Account } from "../access/account.ts";
import type { Call } from "./call.ts";

type Plain = Readonly<Record<string, unknown>>;

/** Calls whose requests and answers are plain JSON, as `/v1` has them, without HTTP. They reject with KibitzErrors. */
export interface PlainCalls {
  /** @returns the answer, as it would be read from JSON */
  once(request: Plain, call: Call): Promise<unknown>;
  /** @returns the messages, as they would be read from JSON: null for each field of a oneof that is not set */
  stream(request: Plain, call: Call): AsyncIterable<unknown>;
  /** Checks the fields of a request alone. */
  check(method: DescMethod, request: Plain, account: Account): Promise<void>;
  /** Checks a request as its call would until it is counted. */
  judge(method: DescMethod, request: Plain, account: Account): Promise<void>;
}
