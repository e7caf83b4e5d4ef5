import {
  createRegistry,
  type DescFile,
  type DescService,
  type MessageInitShape,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Call, Implementation } from "../../calls/call.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { timeoutSignal } from "../../time/time.ts";
import { limitStreams } from "./limit-streams.ts";

export interface ReflectionOptions {
  readonly services: readonly DescService[];
  /** Additional proto files for clients, such as the file with error details. */
  readonly files: readonly DescFile[];
  /** Aborted when the server stops. Open reflection streams then end. */
  readonly stopping: AbortSignal;
  readonly addressOf: (request: RequestContext) => string;
  /** The maximum duration of a stream in milliseconds. */
  readonly lifeMs?: number;
}

/** This time must be shorter than the timeout for an incomplete request. */
const defaultLifeMs = 10_000;

/** The maximum numbers of open streams. A response has up to 90 kB, and stays in memory until the client has read it. */
const streamLimits = { inAll: 20, perAddress: 5 };

/** The maximum number of answers in a stream, because a request of 10 bytes gets up to 90 kB. Tools need less than 50. */
const answersMax = 200;

/** The versions v1 and v1alpha differ only in their names. */
export function createReflection(options: ReflectionOptions): readonly Implementation[] {
  const { services, stopping, addressOf, lifeMs = defaultLifeMs } = options;
  let answers: Answers | undefined;

  async function* info(
    requests: AsyncIterable<ServerReflectionRequest>,
    { signal }: Pick<Call, "signal">,
  ): AsyncGenerator<Response> {
    answers ??= createAnswers(services, options.files);
    const sent = new Set<DescFile>();
    let answered = 0;
    const over = AbortSignal.any([signal, stopping, timeoutSignal(lifeMs)]);
    for await (const request of untilAborted(requests, over)) {
      if (++answered > answersMax) {
        const detail = `A reflection stream answers at most ${answersMax} requests.`;
        throw new KibitzError("rate_limited", detail, { retryAfterMs: 1000 });
      }
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answers(request.messageRequest, sent),
      };
    }
    signal.throwIfAborted();
  }

  const methods = { serverReflectionInfo: limitStreams({ ...streamLimits, addressOf }, info) };
  return [ServerReflection, ServerReflectionV1alpha].map(
    (service) => ({ service, methods }) as unknown as Implementation,
  );
}

type Response = MessageInitShape<typeof ServerReflectionResponseSchema>;
type MessageResponse = NonNullable<Response["messageResponse"]>;
type Type = Registry extends Iterable<infer T> ? T : never;

/** Returns serialized FileDescriptorProtos without comments. `sent` are the files that this stream has already sent. */
type Answers = (asked: ServerReflectionRequest["messageRequest"], sent: Set<DescFile>) => MessageResponse;

function createAnswers(services: readonly DescService[], more: readonly DescFile[]): Answers {
  const files = filesOf([...services.map(({ file }) => file), ...more]);
  const types = createRegistry(...files);
  /** Maps the full name of each type, field, oneof, method and enum value to the file that declares it. */
  const symbols = new Map([...types].flatMap((type) => namesIn(type).map((name) => [name, type.file])));
  const serialized = new Map(
    [...files].map((file) => [file, toBinary(FileDescriptorProtoSchema, file.proto)]),
  );

  const fileAnswer = (file: DescFile | undefined, name: string, sent: Set<DescFile>): MessageResponse => {
    if (file === undefined) {
      return errorAnswer(Code.NotFound, `There is no ${name} here.`);
    }
    const unsent = [...filesOf([file])].filter((one) => one === file || !sent.has(one)).toReversed();
    for (const one of unsent) {
      sent.add(one);
    }
    const fileDescriptorProto = unsent.map((one) => serialized.get(one) ?? new Uint8Array());
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
  };
  return (asked, sent) => {
    switch (asked.case) {
      case "fileByFilename": {
        const file = [...files].find(({ proto }) => proto.name === asked.value);
        return fileAnswer(file, `file ${echo(asked.value, '"')}`, sent);
      }
      case "fileContainingSymbol":
        return fileAnswer(symbols.get(asked.value), `symbol ${echo(asked.value, '"')}`, sent);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = asked.value;
        const message = types.getMessage(containingType);
        const extension = message && types.getExtensionFor(message, extensionNumber);
        return fileAnswer(
          extension?.file,
          `extension ${extensionNumber} of ${echo(containingType, '"')}`,
          sent,
        );
      }
      case "allExtensionNumbersOfType": {
        if (types.getMessage(asked.value) === undefined) {
          return errorAnswer(Code.NotFound, `There is no message ${echo(asked.value, '"')} here.`);
        }
        const extensionNumber = [...types]
          .filter((type) => type.kind === "extension")
          .filter(({ extendee }) => extendee.typeName === asked.value)
          .map(({ number }) => number);
        return { case: "allExtensionNumbersResponse", value: { baseTypeName: asked.value, extensionNumber } };
      }
      case "listServices": {
        const service = services.map(({ typeName }) => ({ name: typeName }));
        return { case: "listServicesResponse", value: { service } };
      }
      case undefined:
        return errorAnswer(Code.InvalidArgument, "The request is empty: set one field of message_request.");
    }
  };
}

/** Returns the files and all files that they import. An imported file precedes the files that import it. */
function filesOf(wanted: readonly DescFile[], found = new Set<DescFile>()): ReadonlySet<DescFile> {
  for (const file of wanted) {
    if (!found.has(file)) {
      filesOf(file.dependencies, found);
      found.add(file);
    }
  }
  return found;
}

function namesIn(type: Type): readonly string[] {
  const { typeName } = type;
  switch (type.kind) {
    case "message":
      return [typeName, ...[...type.fields, ...type.oneofs].map(({ name }) => `${typeName}.${name}`)];
    case "service":
      return [typeName, ...type.methods.map(({ name }) => `${typeName}.${name}`)];
    case "enum": {
      // Proto puts the names of enum values into the scope around the enum, as C++ does.
      const scope = typeName.slice(0, typeName.length - type.name.length);
      return [typeName, ...type.values.map(({ name }) => scope + name)];
    }
    case "extension":
      return [typeName];
  }
}

function errorAnswer(errorCode: Code, errorMessage: string): MessageResponse {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** Ends when `signal` aborts, even while the generator waits for the next message. */
async function* untilAborted<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const reader = messages[Symbol.asyncIterator]();
  let end = () => {};
  signal.addEventListener("abort", () => end());
  while (!signal.aborted) {
    // Create a promise for each message, because `Promise.race` with one long-lived promise would leak memory.
    const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
      end = () => resolve({ done: true, value: undefined });
      reader.next().then(resolve, reject);
    });
    if (next.done) {
      return;
    }
    yield next.value;
  }
}
