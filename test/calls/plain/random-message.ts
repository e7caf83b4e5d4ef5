import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { wordsOfEnum } from "../../../src/calls/plain/enum-words.ts";
import type { createRandom } from "../../support/random.ts";

type Random = ReturnType<typeof createRandom>;

/** Creates a message with values in about half of the fields. Plain JSON can represent these values. */
export function randomMessage(desc: DescMessage, random: Random): Message {
  const message: Message & Record<string, unknown> = create(desc);
  for (const member of desc.members) {
    if (flip(random)) {
      continue;
    }
    if (member.kind === "oneof" || member.fieldKind === "map") {
      throw new Error(`${member}: no request has it`);
    } else if (member.fieldKind === "list") {
      message[member.localName] = several(() => randomValue(member, random), random);
    } else {
      message[member.localName] = randomValue(member, random);
    }
  }
  return message;
}

function randomValue(field: DescField, random: Random): unknown {
  if (field.enum) {
    return random.pick([...wordsOfEnum(field.enum).keys()]);
  }
  if (field.message?.typeName === "google.protobuf.Struct") {
    return randomStruct(random);
  }
  if (field.message) {
    return randomMessage(field.message, random);
  }
  // A random number from 0 to 1. The numbers 0 and 1 are frequent.
  const share = random.pick([random.below(2 ** 32) / 2 ** 32, 0, 1]);
  switch (field.scalar) {
    case ScalarType.STRING:
      return randomText(random);
    case ScalarType.BOOL:
      return flip(random);
    case ScalarType.UINT32:
      return Math.floor(share * (2 ** 32 - 1));
    case ScalarType.UINT64:
      return BigInt(Math.floor(share * Number.MAX_SAFE_INTEGER));
    default:
      throw new Error(`${field}: no random value is known`);
  }
}

function randomStruct(random: Random, levels = 3): Record<string, unknown> {
  const value = (): unknown => {
    const kinds = [
      () => random.below(2 ** 32) / 1e3,
      () => randomText(random),
      () => null,
      () => flip(random),
    ];
    const deep = [() => several(value, random), () => randomStruct(random, levels - 1)];
    return random.pick(levels > 0 ? [...kinds, ...deep] : kinds)();
  };
  return Object.fromEntries(several(() => [randomText(random), value()] as const, random));
}

function randomText(random: Random): string {
  const characters = [...'aZ0 /~"\\\n\u0000éß♞🐴\u2028', "__proto__"];
  return Array.from({ length: random.below(6) }, () => random.pick(characters)).join("");
}

function several<T>(make: () => T, random: Random): T[] {
  return Array.from({ length: random.below(4) }, make);
}

function flip(random: Random): boolean {
  return random.below(2) === 0;
}
