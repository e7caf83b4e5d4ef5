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
  type FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { type HttpRule, HttpRuleSchema } from "../../gen/google/api/http_pb.ts";

type FieldInit = { name: string; type: Type; typeName?: string; repeated?: true; oneof?: true };

const wellKnown = [
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_duration,
];

/** A message type `test.v1.Thing` with these fields, for kinds of fields that the API has none of. */
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
        field: fields.map(({ name, type, typeName, repeated, oneof }, index) =>
          create(FieldDescriptorProtoSchema, {
            name,
            type,
            number: index + 1,
            label: repeated ? Label.REPEATED : Label.OPTIONAL,
            ...(typeName !== undefined && { typeName }),
            ...(oneof && { oneofIndex: 0 }),
          }),
        ),
      },
    ],
  });
  const registry = createFileRegistry(file, (name) => wellKnown.find(({ proto }) => proto.name === name));
  return registry.getMessage("test.v1.Thing") as DescMessage;
}

type RuleInit = Parameters<typeof create<typeof HttpRuleSchema>>[1];

/** A service `test.v1.Things` whose methods, `Call0` and so on, have these HTTP rules. */
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
