import { type ReadonlySignal, signal } from "@preact/signals";
import { store, stored } from "./stored.ts";

interface KeptSwitch {
  readonly isOn: ReadonlySignal<boolean>;
  turn(on: boolean): void;
}

/** Creates a switch that the browser stores for reloads and for new tabs. The switch is on until the user turns it off. */
export function createKeptSwitch(name: string): KeptSwitch {
  const place = `kibitz-${name}`;
  const isOn = signal(stored("localStorage", place) !== "off");
  return {
    isOn,
    turn(on) {
      isOn.value = on;
      store("localStorage", place, on ? undefined : "off");
    },
  };
}
