import { type Fault, faultsMax } from "../../errors/errors.ts";
import { isJsonObject } from "./is-json-object.ts";
import { prefixFaults, refuse, refuseHalfPair } from "./refuse.ts";
import type { ReadValue } from "./value-reader.ts";

/** The reader of a google.protobuf.Struct: any JSON object, which stays as JSON.parse made it. */
export function createStructReader(name: string): ReadValue {
  return (json, faults) => {
    if (!isJsonObject(json)) {
      return refuse(faults, "invalid_type", `${name} must be an object`, json);
    }
    const before = faults.length;
    checkPortable(json, name, faults);
    return faults.length === before ? json : undefined;
  };
}

/** Notes what JSON can write and protobuf cannot carry: numbers beyond a double, text that is not Unicode. */
function checkPortable(json: unknown, name: string, faults: Fault[]): void {
  if (typeof json === "number" && !Number.isFinite(json)) {
    refuse(faults, "out_of_range", `A number in ${name} must be finite`, json);
  } else if (typeof json === "string" && !json.isWellFormed()) {
    refuseHalfPair(faults, `A string in ${name}`);
  } else if (typeof json === "object" && json !== null) {
    const list = Array.isArray(json);
    for (const [key, value] of Object.entries(json)) {
      const before = faults.length;
      if (!key.isWellFormed()) {
        refuseHalfPair(faults, `A key in ${name}`);
      }
      checkPortable(value, name, faults);
      if (faults.length > before) {
        prefixFaults(faults, before, list ? Number(key) : key);
      }
      if (faults.length >= faultsMax) {
        return;
      }
    }
  }
}
