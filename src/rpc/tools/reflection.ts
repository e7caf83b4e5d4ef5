import type { DescFile, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Caller } from "../../caller.ts";
import { echo } from "../../text/plain-text.ts";
import type { Implementation, MethodContext } from "../calls.ts";
import { atMost } from "./at-most.ts";
import { createProtoFiles, type ProtoFiles } from "./proto-files.ts";

export interface ReflectionOptions {
  /** What is listed. */
  readonly services: readonly DescService[];
  /** Files that may be asked for beside those of the services: what their errors are made of. */
  readonly files: readonly DescFile[];
  /** Aborted when the server stops: it does not wait for other questions. */
  readonly stopping: AbortSignal;
  /** The address that a caller is known by. */
  readonly addressOf: (caller: Caller) => string;
  /** How long a conversation may take, in milliseconds, however much is asked in it. */
  readonly lifeMs?: number;
}

/**
 * Less than the time after which a request that still goes on is cut without a word. Who has another question later
 * opens another stream.
 */
const defaultLifeMs = 10_000;

/** At a time. An answer is up to 90 kB, and waits in memory until its caller takes it. */
const conversations = { inAll: 20, perAddress: 5 };

/** gRPC's server reflection: the proto files, for tools that have none. Its versions differ in their name alone. */
export function createReflection(options: ReflectionOptions): readonly Implementation[] {
  const { services, stopping, addressOf, lifeMs = defaultLifeMs } = options;
  const roots = [...services.map(({ file }) => file), ...options.files];
  let files: ProtoFiles | undefined;

  async function* converse(
    requests: AsyncIterable<ServerReflectionRequest>,
    { signal }: Pick<MethodContext, "signal">,
  ): AsyncGenerator<Response> {
    // Most servers are never asked.
    files ??= createProtoFiles(roots);
    const sent = new Set<DescFile>();
    for await (const request of untilOver(requests, { signal, stopping, lifeMs })) {
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answerTo(request, files, services, sent),
      };
    }
  }

  const methods = { serverReflectionInfo: atMost({ ...conversations, addressOf }, converse) };
  return [ServerReflection, ServerReflectionV1alpha].map(
    (service) => ({ service, methods }) as unknown as Implementation,
  );
}

type Response = MessageInitShape<typeof ServerReflectionResponseSchema>;
type Answer = NonNullable<Response["messageResponse"]>;

function answerTo(
  { messageRequest: asked }: ServerReflectionRequest,
  files: ProtoFiles,
  services: readonly DescService[],
  sent: Set<DescFile>,
): Answer {
  switch (asked.case) {
    case "fileByFilename":
      return answerWith(files.named(asked.value), `file "${echo(asked.value)}"`, files, sent);
    case "fileContainingSymbol":
      return answerWith(files.declaring(asked.value), `symbol "${echo(asked.value)}"`, files, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const what = `extension ${extensionNumber} of "${echo(containingType)}"`;
      return answerWith(files.extending(containingType, extensionNumber), what, files, sent);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = files.extensionsOf(asked.value);
      return extensionNumber === undefined
        ? refusal(Code.NotFound, `There is no message "${echo(asked.value)}" here.`)
        : {
            case: "allExtensionNumbersResponse",
            value: { baseTypeName: asked.value, extensionNumber: [...extensionNumber] },
          };
    }
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: services.map(({ typeName }) => ({ name: typeName })) },
      };
    case undefined:
      return refusal(Code.InvalidArgument, "The request is empty: set one field of message_request.");
  }
}

/** A file with all that it imports, but for what this stream has sent already. */
function answerWith(
  file: DescFile | undefined,
  what: string,
  files: ProtoFiles,
  sent: Set<DescFile>,
): Answer {
  if (file === undefined) {
    return refusal(Code.NotFound, `There is no ${what} here.`);
  }
  const news = withImports(file).filter((one) => one === file || !sent.has(one));
  for (const one of news) {
    sent.add(one);
  }
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: news.map((one) => files.bytesOf(one)) },
  };
}

/** Every file before those that it imports. */
function withImports(file: DescFile): readonly DescFile[] {
  const seen = new Set<DescFile>();
  const importedFirst: DescFile[] = [];
  const visit = (one: DescFile) => {
    if (!seen.has(one)) {
      seen.add(one);
      one.dependencies.forEach(visit);
      importedFirst.push(one);
    }
  };
  visit(file);
  return importedFirst.toReversed();
}

function refusal(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

interface Span {
  readonly signal: AbortSignal;
  readonly stopping: AbortSignal;
  readonly lifeMs: number;
}

/** What is asked until the caller leaves, the server stops or the time is over: also while nothing is asked. */
async function* untilOver<T>(requests: AsyncIterable<T>, { signal, stopping, lifeMs }: Span) {
  const over = Promise.withResolvers<{ readonly done: true }>();
  const end = () => over.resolve({ done: true });
  const timer = setTimeout(end, lifeMs);
  const ends = [signal, stopping];
  for (const one of ends) {
    one.addEventListener("abort", end);
  }
  if (ends.some(({ aborted }) => aborted)) {
    end();
  }
  try {
    const reader = requests[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([over.promise, reader.next()]);
      if (next.done) {
        signal.throwIfAborted();
        return;
      }
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    for (const one of ends) {
      one.removeEventListener("abort", end);
    }
  }
}
