import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { boundsOfField, type IntegerBounds } from "../../field-rules.ts";
import { refuse } from "./refuse.ts";
import type { ReadValue } from "./value-reader.ts";

/** The reader of a number field, `undefined` if the field holds none. `name` begins its complaints. */
export function createNumberReader(name: string, field: DescField): ReadValue | undefined {
  switch (field.scalar) {
    case ScalarType.DOUBLE:
      return readDouble(name);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return readInteger(name, field, int32);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return readInteger(name, field, uint32);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return readLong(readInteger(name, field, int53), field);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return readLong(readInteger(name, field, uint53), field);
    default:
      return undefined;
  }
}

const int32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const uint32 = { minimum: 0, maximum: 2 ** 32 - 1 };
// JSON.parse has rounded what lies beyond: a number that is not the caller's is refused.
const int53 = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const uint53 = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** Refuses only what the type cannot hold, but then names the bounds of the field's rule, which is checked behind the gateway. */
function readInteger(name: string, field: DescField, ofType: IntegerBounds): ReadValue {
  const allowed = boundsOfField(field, ofType);
  const must = `${name} must be an integer from ${allowed.minimum} to ${allowed.maximum}`;
  return (json, faults) => {
    if (typeof json !== "number" || (Number.isFinite(json) && !Number.isInteger(json))) {
      return refuse(faults, "invalid_type", must, json, { ...allowed });
    }
    if (json < ofType.minimum || json > ofType.maximum) {
      return refuse(faults, "out_of_range", must, json, { ...allowed });
    }
    return json === 0 ? 0 : json; // -0 is 0
  };
}

function readLong(read: ReadValue, field: DescField): ReadValue {
  const asString = "longAsString" in field && field.longAsString;
  return (json, faults) => {
    const value = read(json, faults);
    if (typeof value !== "number") {
      return undefined;
    }
    return asString ? String(value) : BigInt(value);
  };
}

function readDouble(name: string): ReadValue {
  return (json, faults) => {
    if (typeof json !== "number") {
      return refuse(faults, "invalid_type", `${name} must be a number`, json);
    }
    return Number.isFinite(json) ? json : refuse(faults, "out_of_range", `${name} must be finite`, json);
  };
}
