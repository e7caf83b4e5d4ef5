import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescService,
  setExtension,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_duration,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { type HttpRule, HttpRuleSchema } from "../../../gen/google/api/http_pb.ts";

type FieldInit = { name: string; type: Type; typeName?: string; repeated?: true; oneof?: true; map?: true };

const wellKnown = [
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_duration,
];

/** Creates a message type, because the tests need field types that the API does not have. */
export function messageWith(...fields: FieldInit[]): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/v1/thing.proto",
    package: "test.v1",
    syntax: "proto3",
    dependency: wellKnown.map(({ proto }) => proto.name),
    messageType: [
      {
        name: "Thing",
        oneofDecl: fields.some(({ oneof }) => oneof) ? [{ name: "choice" }] : [],
        field: fields.map(({ name, type, typeName, repeated, oneof, map }, index) =>
          create(FieldDescriptorProtoSchema, {
            name,
            number: index + 1,
            label: repeated || map ? Label.REPEATED : Label.OPTIONAL,
            ...(map
              ? { type: Type.MESSAGE, typeName: `.test.v1.Thing.${entryOf(name)}` }
              : { type, ...(typeName !== undefined && { typeName }) }),
            ...(oneof && { oneofIndex: 0 }),
          }),
        ),
        // Protobuf encodes a map as a list of entries, with a separate message type for the entries.
        nestedType: fields
          .filter(({ map }) => map)
          .map(({ name, type }) => ({
            name: entryOf(name),
            field: [
              { name: "key", number: 1, label: Label.OPTIONAL, type: Type.STRING },
              { name: "value", number: 2, label: Label.OPTIONAL, type },
            ],
            options: { mapEntry: true },
          })),
      },
    ],
  });
  const registry = createFileRegistry(file, (name) => wellKnown.find(({ proto }) => proto.name === name));
  return registry.getMessage("test.v1.Thing") as DescMessage;
}

function entryOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`;
}

type RuleInit = Parameters<typeof create<typeof HttpRuleSchema>>[1];

/** Creates a service with a method for each HTTP rule. The methods are `Call0`, `Call1` and so on. */
export function serviceWith(...rules: RuleInit[]): DescService {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/v1/things.proto",
    package: "test.v1",
    syntax: "proto3",
    messageType: [{ name: "Empty" }],
    service: [
      {
        name: "Things",
        method: rules.map((init, index) => {
          const options = create(MethodOptionsSchema);
          const rule: HttpRule = create(HttpRuleSchema, init);
          setExtension(options, http, rule);
          return { name: `Call${index}`, inputType: ".test.v1.Empty", outputType: ".test.v1.Empty", options };
        }),
      },
    ],
  });
  return createFileRegistry(file, () => undefined).getService("test.v1.Things") as DescService;
}
