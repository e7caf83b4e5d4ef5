import {
  type AnyDesc,
  type DescFile,
  type DescService,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Implementation, MethodContext } from "../../calls/invoke.ts";
import type { RequestContext } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { atMost } from "./at-most.ts";

export interface ReflectionOptions {
  /** What is listed. */
  readonly services: readonly DescService[];
  /** Files that may be asked for beside those of the services: what their errors are made of. */
  readonly files: readonly DescFile[];
  /** Aborted when the server stops: it does not wait for other questions. */
  readonly stopping: AbortSignal;
  /** The address that a caller is known by. */
  readonly addressOf: (request: RequestContext) => string;
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

/** Proto files with all that they import, and where in them a name is declared. */
export interface ProtoFiles {
  /** By the name that imports call it: `chess/analysis/v1/analysis.proto`. */
  named(name: string): DescFile | undefined;
  /** By the full name of anything that it declares, down to fields and enum values. */
  declaring(symbol: string): DescFile | undefined;
  /** By an extension of a message. */
  extending(message: string, number: number): DescFile | undefined;
  /** The numbers of the extensions of a message; `undefined` where there is no such message. */
  extensionsOf(message: string): readonly number[] | undefined;
  /** A file as a serialized FileDescriptorProto. Without comments: generated code has none. */
  bytesOf(file: DescFile): Uint8Array;
}

export function createProtoFiles(roots: readonly DescFile[]): ProtoFiles {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const messages = new Map<string, Map<number, DescFile>>();
  const bytes = new Map<DescFile, Uint8Array>();
  const add = (file: DescFile) => {
    if (files.has(file.proto.name)) {
      return;
    }
    files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      for (const symbol of symbolsOf(type)) {
        symbols.set(symbol, file);
      }
      if (type.kind === "message") {
        messages.set(type.typeName, new Map());
      }
    }
    file.dependencies.forEach(add);
  };
  roots.forEach(add);
  for (const file of files.values()) {
    for (const type of nestedTypes(file)) {
      if (type.kind === "extension") {
        messages.get(type.extendee.typeName)?.set(type.number, file);
      }
    }
  }
  return {
    named: (name) => files.get(name),
    declaring: (symbol) => symbols.get(symbol),
    extending: (message, number) => messages.get(message)?.get(number),
    extensionsOf(message) {
      const numbers = messages.get(message)?.keys();
      return numbers && [...numbers];
    },
    bytesOf(file) {
      const known = bytes.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
      bytes.set(file, known);
      return known;
    },
  };
}

/** The full names that a type declares: its own and its members'. */
function symbolsOf(type: Exclude<AnyDesc, { kind: "file" | "field" | "oneof" | "rpc" | "enum_value" }>) {
  const { typeName } = type;
  const within = (names: readonly { readonly name: string }[]) =>
    names.map(({ name }) => `${typeName}.${name}`);
  switch (type.kind) {
    case "message":
      return [typeName, ...within(type.fields), ...within(type.oneofs)];
    case "service":
      return [typeName, ...within(type.methods)];
    case "enum": {
      // As in C++, the values stand beside their enum, not in it.
      const scope = typeName.slice(0, typeName.length - type.name.length);
      return [typeName, ...type.values.map(({ name }) => scope + name)];
    }
    case "extension":
      return [typeName];
  }
}
