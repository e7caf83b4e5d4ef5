import { type AnyDesc, type DescFile, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

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
